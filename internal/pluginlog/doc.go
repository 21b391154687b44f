// Package pluginlog reads the log of a plugin and tells what in it explains a
// failure.
//
// A log is a sequence of entries. An entry is one line, or several: a message
// with line breaks, a value that spans lines, a panic with its stack. The forms
// it knows are the text and the JSON of klog, the JSON of zap, slog, logrus and
// their like, the key=value text of logrus and slog, the terminal forms of
// logrus and zap, and what the Go runtime writes when a program dies. Everything
// else is plain: a line that only looks like one of these is not taken for it.
//
// What container runtimes, kubectl and journald put before each line is taken
// off where it cannot be anything else, and so are colours.
//
// Every size is bounded, so a log of any length and any bytes can be read. The
// package does no I/O of its own and uses the standard library only.
package pluginlog
