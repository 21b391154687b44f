package capability

// Requirement is one capability that a plugin depends on.
type Requirement struct {
	Capability ID     `json:"capability"`
	Level      Level  `json:"level"`
	Source     Source `json:"source"`
	// OneOf is the name of the group that the requirement belongs to; empty for
	// one of its own. The requirements of a group are alternatives: it is enough
	// if one of them is ok. A name means nothing beyond the requirements it
	// stands with; [Normalize] makes it of the names of the members.
	OneOf string `json:"oneOf,omitempty"`
	// Unproven is set when the code that uses the capability is part of the
	// program but nothing shows that it can run, for instance a method that is
	// only reachable through an interface.
	Unproven bool `json:"unproven,omitempty"`
	// Note is a sentence for a person; empty if there is nothing to add.
	Note string `json:"note,omitempty"`
	// Evidence lists where the requirement was seen, most telling first. It may
	// be empty for a declared requirement.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is one place that shows a requirement.
type Evidence struct {
	// Kind tells what was seen: "call", "inline", "read", "write", "construct",
	// "handler", "registration", "manifest", "flag" or "message".
	Kind string `json:"kind"`
	// Symbol is the NRI API symbol that was used, such as
	// "api.(*ContainerAdjustment).AddCDIDevice" or "api.Container.Rlimits".
	Symbol string `json:"symbol,omitempty"`
	// Function is the plugin's function that uses it, such as
	// "main.(*plugin).CreateContainer".
	Function string `json:"function,omitempty"`
	// File and Line place it in the plugin's source; File is empty and Line 0
	// where that is not known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Detail is a short remark; usually empty.
	Detail string `json:"detail,omitempty"`
}

// Needs is what is known of a plugin's requirements.
type Needs struct {
	Requirements []Requirement
	// Gaps says, one sentence each, what could not be read. A plugin whose
	// needs have gaps is never [Compatible]: at best it is [Inconclusive].
	Gaps []string
}
