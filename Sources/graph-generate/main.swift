import ModelClasses

/// `graph-generate MODEL.json… --output FILE.swift` generates typed managed-object classes, and
/// `graph-generate convert` makes model files of a Core Data model.
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "convert" {
  ConvertCommand(arguments.dropFirst()).run()
} else {
  ClassCommand(arguments).run()
}
