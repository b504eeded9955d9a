import Foundation
import PackagePlugin

/// Embeds the files of the web board in a target, with the shell's own tools: a program of our own for it would have to
/// be built first.
@main
struct WebFilesPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    let script = context.package.directoryURL.appending(path: "scripts/embed-web")
    let folder = context.package.directoryURL.appending(path: "Web", directoryHint: .isDirectory)
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
    guard let walker = FileManager.default.enumerator(atPath: folder.path) else {
      throw MissingFolder(description: "\(folder.path) can't be read")
    }
    var files = [URL]()
    for case let path as String in walker {
      let file = folder.appending(path: path)
      var isFolder: ObjCBool = false
      if FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue {
        files.append(file)
      }
    }
    return [
      .buildCommand(
        displayName: "Embedding the web board in \(target.name)", executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: [script.path, folder.path, output.path], inputFiles: [script] + files.sorted { $0.path < $1.path },
        outputFiles: [output])
    ]
  }
}

struct MissingFolder: Error, CustomStringConvertible {
  let description: String
}
