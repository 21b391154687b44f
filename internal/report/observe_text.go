package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Text writes what happened in the order in which it did, then what follows
// from it, the verdict as the last line.
func (d *Observe) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	p.linef("%s", style.bold(style.fit(plain(d.Plugin.Name)+"   ran with a stand-in for "+d.played())))
	for _, step := range d.steps() {
		p.linef("  %-10s %s", step[0], plain(step[1]))
	}
	p.linef("")
	if d.Result != nil {
		d.Result.text(p, d.tableName(), style, told{wide: style.Wide, lines: map[string]bool{}})
	} else if rows := d.rows(); len(rows) > 0 {
		p.do(func(w io.Writer) error { return grid(w, style, []string{"CAPABILITY", "LEVEL", "SEEN IN"}, rows) })
	}
	for _, line := range d.remarks() {
		p.linef("%s", plain(line))
	}
	if d.Result == nil && len(d.Requirements) > 0 && len(d.Gaps) == 0 && !d.hopeless() {
		Advice{Fits: d.Fits, Nowhere: d.Nowhere, Runtimes: []string{inference.Kubelet}}.text(p)
	}
	p.linef("%s", style.statuses(d.conclusion()))
	return p.err
}

func (d *Observe) played() string {
	if d.Result != nil {
		return d.Result.Runtime.title()
	}
	return "a kubelet that refuses nothing"
}

// rows are the capabilities that were used.
func (d *Observe) rows() [][]string {
	var rows [][]string
	for _, r := range d.Requirements {
		rows = append(rows, []string{r.ID, r.level(), r.first()})
	}
	return rows
}

// steps tells what happened, a word and a line each.
func (d *Observe) steps() [][2]string {
	var out, before [][2]string
	again := 0
	tellAgain := func() {
		if again > 0 {
			out = append(out, [2]string{"registered", "again, " + count(again, "time", "times") + ", with the same outcome"})
		}
		again = 0
	}
	for _, r := range d.Registrations {
		steps := r.steps()
		if slices.Equal(steps, before) {
			again++
			continue
		}
		tellAgain()
		out = append(out, steps...)
		before = steps
	}
	tellAgain()
	for _, r := range d.Drivers {
		out = append(out, [2]string{"registered", fmt.Sprintf("%s, %s offering %s", r.Name, orWord(r.Type, "a plugin"), orWord(strings.Join(r.Services, ", "), "nothing"))})
	}
	if len(d.PodResources) > 0 {
		out = append(out, [2]string{"asked", "the pod resources API: " + strings.Join(d.PodResources, ", ")})
	}
	if r := d.Restarted; r != nil && len(r.Again) > 0 {
		out = append(out, [2]string{"restart", "registered again: " + strings.Join(r.Again, ", ")})
	}
	if r := d.Restarted; r != nil && len(r.Missing) > 0 {
		out = append(out, [2]string{"restart", "not registered again: " + strings.Join(r.Missing, ", ")})
	}
	if d.Plugin.TimedOut {
		out = append(out, [2]string{"timed out", "before all was seen"})
	}
	out = append(out, [2]string{"ended", d.Plugin.Ended})
	if n := len(d.Plugin.Left); n > 0 {
		out = append(out, [2]string{"left", fmt.Sprintf("%s running, now killed: %s", count(n, "process", "processes"), strings.Join(firstOf(d.Plugin.Left, 5), ", "))})
	}
	return out
}

// steps tells what followed a registration.
func (r ObservedRegistration) steps() [][2]string {
	var out [][2]string
	add := func(word, format string, args ...any) {
		out = append(out, [2]string{word, fmt.Sprintf(format, args...)})
	}
	add("registered", "%s, %s", orWord(r.Resource, "no resource"), r.place())
	if word := map[string]string{"first": "before its registration was answered", "late": "only after its registration was answered", "never": "not in time"}[r.Served]; word != "" {
		add("serves", "%s", word)
	}
	if r.Refused != "" {
		add("refused", "%s", r.Refused)
	}
	switch told, answered := r.RegisterOptions.words(), r.Options.words(); {
	case r.Options == nil && r.RegisterOptions == nil:
	case r.Options == nil:
		add("options", "%s in RegisterRequest", told)
	case told == answered:
		add("options", "%s", told)
	default:
		add("options", "%s in RegisterRequest, %s by GetDevicePluginOptions", told, answered)
	}
	if r.Updates > 0 {
		add("devices", "%s, %d healthy%s", count(r.DeviceCount, "device", "devices"), r.Healthy, r.deviceWords())
	}
	for _, c := range r.Calls {
		switch {
		case c.Error != "":
			add("failed", "%s: %s (%s)", c.Method, c.Error, c.Code)
		case c.Method == "GetPreferredAllocation":
			add("prefers", "%s", orWord(strings.Join(r.Preferred, ", "), "no device"))
		case c.Method == "Allocate" && r.Allocated != nil:
			add("allocated", "%s", r.Allocated.words())
		case c.Method == "PreStartContainer":
			add("prepared", "by PreStartContainer")
		}
	}
	return out
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func firstOf(list []string, n int) []string {
	if len(list) > n {
		return append(append([]string{}, list[:n]...), "…")
	}
	return list
}

func (r ObservedRegistration) place() string {
	if r.Way == "plugins_registry" {
		return fmt.Sprintf("%s, by its socket %s", r.Version, r.Endpoint)
	}
	return fmt.Sprintf("%s, at %s", orWord(r.Version, "no version"), orWord(r.Endpoint, "no endpoint"))
}

func (r ObservedRegistration) deviceWords() string {
	if len(r.Devices) == 0 {
		return ""
	}
	var words []string
	for _, d := range r.Devices {
		w := d.ID
		if len(d.NUMANodes) > 0 {
			w += " on NUMA node " + strings.Trim(strings.ReplaceAll(fmt.Sprint(d.NUMANodes), " ", ", "), "[]")
		}
		words = append(words, w)
	}
	if r.DeviceCount > len(words) {
		words = append(words, "…")
	}
	return ": " + strings.Join(firstOf(words, 5), ", ")
}

func (o *DeviceOptions) words() string {
	if o == nil {
		return "none"
	}
	var words []string
	if o.PreStartRequired {
		words = append(words, "PreStartRequired")
	}
	if o.GetPreferredAllocationAvailable {
		words = append(words, "GetPreferredAllocationAvailable")
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " and ")
}

func (a *Allocated) words() string {
	var words []string
	for _, part := range []struct {
		list      []string
		one, many string
	}{
		{a.DeviceNodes, "device node", "device nodes"}, {a.Mounts, "mount", "mounts"}, {a.Env, "variable", "variables"},
		{a.Annotations, "annotation", "annotations"}, {a.CDI, "CDI device", "CDI devices"},
	} {
		if n := len(part.list); n > 0 {
			words = append(words, count(n, part.one, part.many)+" ("+strings.Join(firstOf(part.list, 3), ", ")+")")
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// remarks are the lines below the capabilities.
func (d *Observe) remarks() []string {
	var out []string
	for _, b := range d.Broken {
		line := "breaks: " + b.Text
		if b.WorksWith != "" {
			line += "; it works with " + b.WorksWith
		}
		out = append(out, line)
	}
	for _, w := range d.Warnings {
		out = append(out, "warning: "+w)
	}
	out = append(out, d.logLines()...)
	for _, g := range d.Gaps {
		out = append(out, "not seen: "+g)
	}
	return out
}

// logLines are what the log tells. Where a capability is missing the lines on
// what is broken say so.
func (d *Observe) logLines() []string {
	if d.Log == nil {
		return nil
	}
	if len(d.Log.Reasons) == 0 {
		return []string{"log: " + d.Log.summary()}
	}
	var out []string
	for _, r := range d.Log.Reasons[:min(len(d.Log.Reasons), shownReasons)] {
		out = append(out, "log: "+r.words()+" ("+r.place()+")")
		if r.Quote != "" && r.Quote != r.Text {
			out = append(out, "  "+r.Quote)
		}
	}
	return out
}

// conclusion is the verdict in a line.
func (d *Observe) conclusion() string {
	line := fmt.Sprintf("%s: %s used %s", d.Verdict, plain(d.Plugin.Name), d.used())
	inconclusive := d.Verdict == capability.Inconclusive.String()
	switch {
	case inconclusive && len(d.Gaps) > 0:
		line += "; more may be needed, not everything could be seen"
	case inconclusive && d.Result == nil:
		line += "; of no release is known that it has all of it"
	}
	if d.hopeless() {
		line += "; it does what no kubelet accepts"
	}
	return line
}

// used says how much the plugin used, and how much of that the release lacks.
func (d *Observe) used() string {
	if d.Result == nil {
		return count(len(d.Requirements), "capability", "capabilities")
	}
	lacks, unknown := map[string]bool{}, map[string]bool{} // of alternatives all have one name
	for _, o := range d.Result.Capabilities {
		switch {
		case !o.counts():
		case o.counted() == capability.StatusUnknown.String():
			unknown[o.need()] = true
		default:
			lacks[o.need()] = true
		}
	}
	release := d.Result.Runtime.title()
	switch {
	case len(lacks) > 0:
		return count(len(lacks), "capability", "capabilities") + " that " + release + " lacks"
	case len(unknown) > 0:
		return count(len(unknown), "capability", "capabilities") + " of which nothing is known for " + release
	}
	return "nothing that " + release + " lacks"
}

// hopeless tells whether the plugin does what every kubelet refuses or fails at.
func (d *Observe) hopeless() bool {
	return slices.ContainsFunc(d.Broken, func(b Broken) bool { return b.Capability == "" })
}

// Markdown writes the same for a job summary.
func (d *Observe) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## %s\n\nRan with a stand-in for %s.\n", mdText(d.Plugin.Name), mdText(d.played()))
	for _, step := range d.steps() {
		p.linef("- %s: %s", step[0], mdText(step[1]))
	}
	p.linef("")
	if rows := d.rows(); len(rows) > 0 {
		p.do(func(w io.Writer) error { return mdTable(w, []string{"Capability", "Level", "Seen in"}, rows) })
		p.linef("")
	}
	if d.Result != nil {
		p.linef("%s\n", mdText(d.Result.verdictLine()))
		for _, o := range d.Result.Capabilities {
			if o.Status != capability.StatusOK.String() {
				p.linef("- %s %s: %s", o.ID, o.Status, mdText(o.why()))
			}
		}
	}
	for _, line := range d.remarks() {
		p.linef("- %s", mdText(line))
	}
	p.linef("\n**%s**", mdText(d.conclusion()))
	return p.err
}
