import Foundation
import PackagePlugin

/// Generates a target's typed classes from the newest versions of its models. The models themselves are embedded, so
/// that the program needs no model file at run time.
///
/// A folder of model files has the versions of one model: `1.json`, `2.json`. A target lists its folders, one a line
/// and relative to the package, in the file `.graph-models` beside its sources.
///
/// Without that file the package's `Schema` folder has one folder for each model. A target's model is the one whose
/// name is a prefix of the target's name, ignoring case: `Schema/Company` is the model of a target `Company`,
/// `CompanyKit` or `company-tool`. If there are several, the longest is used.
@main
struct GraphModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    let tool = try context.tool(named: "graph-classes").url
    return try modelFolders(of: target, in: context.package.directoryURL).map { folder in
      let versions = try Self.names(in: folder)
        .filter { $0.hasSuffix(".json") }
        .map { folder.appending(path: $0) }
        .sorted { $0.path < $1.path }
      guard !versions.isEmpty else {
        throw MissingModel(description: "\(folder.path) has no model file, such as 1.json")
      }
      let name = folder.lastPathComponent
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)+Generated.swift")
      return .buildCommand(
        displayName: "Generating the classes of \(name) for \(target.name)",
        executable: tool,
        arguments: versions.map(\.path) + ["--output", output.path],
        inputFiles: versions,
        outputFiles: [output])
    }
  }

  /// The folders of a target's models.
  private func modelFolders(of target: Target, in package: URL) throws -> [URL] {
    let list = target.directoryURL.appending(path: ".graph-models")
    guard FileManager.default.fileExists(atPath: list.path) else { return [try namesake(of: target, in: package)] }
    var folders = [URL]()
    for (number, line) in try String(contentsOf: list, encoding: .utf8).components(separatedBy: "\n").enumerated() {
      let path = line.trimmingCharacters(in: .whitespacesAndNewlines)
      if path.isEmpty || path.hasPrefix("#") { continue }
      let isAbsolute = path.hasPrefix("/")
      let folder = (isAbsolute ? URL(fileURLWithPath: path) : package.appending(path: path)).standardizedFileURL
      let place = "\(list.path):\(number + 1):1: error:"
      guard FileManager.default.fileExists(atPath: folder.path) else {
        throw MissingModel(description: "\(place) there is no folder \(folder.path)")
      }
      guard !folders.contains(where: { $0.lastPathComponent == folder.lastPathComponent }) else {
        throw MissingModel(description: "\(place) another model's folder is also called \(folder.lastPathComponent)")
      }
      folders.append(folder)
    }
    guard !folders.isEmpty else { throw MissingModel(description: "\(list.path):1:1: error: it lists no folder") }
    return folders
  }

  private func namesake(of target: Target, in package: URL) throws -> URL {
    let schema = package.appending(path: "Schema", directoryHint: .isDirectory)
    let model =
      FileManager.default.fileExists(atPath: schema.path)
      ? try Self.names(in: schema).filter { target.name.lowercased().hasPrefix($0.lowercased()) }
        .max { $0.count < $1.count } : nil
    guard let model else {
      throw MissingModel(
        description:
          "\(schema.path) has no folder that the name of \(target.name) begins with; list the folders of its "
          + "models in \(target.directoryURL.appending(path: ".graph-models").path)")
    }
    return schema.appending(path: model, directoryHint: .isDirectory)
  }

  private static func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }
}

struct MissingModel: Error, CustomStringConvertible {
  let description: String
}
