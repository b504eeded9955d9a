import ModelClasses

/// `graph-classes MODEL.json… --output FILE.swift` is the part of `graph-generate` that the build-tool plugin runs:
/// every package that uses the plugin compiles it.
ClassCommand(CommandLine.arguments.dropFirst()).run()
