import Foundation
import PackagePlugin

/// Generates a target's typed classes from the newest version of its model. The model itself is embedded, so that the
/// program needs no model file at run time.
///
/// The package's `Schema` folder has one folder for each model. A target's model is the one whose name is a prefix of
/// the target's name, ignoring case: `Schema/Company` is the model of a target `Company`, `CompanyKit` or
/// `company-tool`. If there are several, the longest is used.
@main
struct GraphModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    let schema = context.package.directoryURL.appending(path: "Schema")
    let model = try FileManager.default.contentsOfDirectory(atPath: schema.path)
      .filter { target.name.lowercased().hasPrefix($0.lowercased()) }
      .max { $0.count < $1.count }
    guard let model else {
      throw MissingModel(description: "\(schema.path) has no folder that the name of \(target.name) begins with")
    }
    let folder = schema.appending(path: model)
    let versions = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".json") }
      .map { folder.appending(path: $0) }
      .sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "Generated.swift")
    return [
      .buildCommand(
        displayName: "Generating the managed object classes of \(target.name)",
        executable: try context.tool(named: "graph-generate").url,
        arguments: versions.map(\.path) + ["--output", output.path],
        inputFiles: versions,
        outputFiles: [output])
    ]
  }
}

struct MissingModel: Error, CustomStringConvertible {
  let description: String
}
