import Foundation
import PackagePlugin

/// Generates a target's typed classes from the newest model under `Schema/<target's model>/`, and embeds
/// the model itself, so that a program needs no file at run time.
@main
struct GraphModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    let folder = context.package.directoryURL.appending(path: "Schema/Stickies")
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
