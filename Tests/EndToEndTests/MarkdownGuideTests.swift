import Foundation
import GraphTesting
import Testing

/// The commands of the page, run in order in one folder, print the output that the page shows.
@Suite struct MarkdownGuideTests {
  private struct Step {
    let command: String
    var output = ""
  }

  private static func steps() throws -> [Step] {
    let page = String(decoding: try Fixtures.file("docs/guides/markdown.md"), as: UTF8.self)
    var steps = [Step]()
    var isBlock = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isBlock.toggle()
      } else if isBlock, line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2))))
      } else if isBlock {
        let last = try #require(steps.indices.last, "the page shows an output before any command")
        steps[last].output += line + "\n"
      }
    }
    return steps
  }

  /// Whether a line equals the line of the page, in which `…` matches any text.
  private static func fits(_ line: String, _ shown: String) -> Bool {
    let parts = shown.components(separatedBy: "…")
    guard parts.count == 2 else { return line == shown }
    return line.hasPrefix(parts[0]) && line.hasSuffix(parts[1]) && line.count >= shown.count - 1
  }

  @Test func commandsOfGuidePrintDocumentedOutput() throws {
    let steps = try Self.steps()
    #expect(steps.count > 20)
    let daemon = try Daemon()
    try daemon.start()
    for step in steps {
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = ["-c", step.command]
      shell.currentDirectoryURL = URL(fileURLWithPath: daemon.home.path)
      let path = Daemon.binary("stickies").deletingLastPathComponent().path
      shell.environment = ProcessInfo.processInfo.environment.merging([
        "PATH": path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"), "NO_COLOR": "1",
        "STICKIES_SERVER": daemon.socket.description, "STICKIES_AUTHOR": "ann@test", "LC_ALL": "C",
      ]) { $1 }
      let output = Pipe()
      shell.standardOutput = output
      shell.standardError = output
      shell.standardInput = FileHandle.nullDevice
      try shell.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      shell.waitUntilExit()
      let (lines, shown) = (text.components(separatedBy: "\n"), step.output.components(separatedBy: "\n"))
      #expect(
        lines.count == shown.count && zip(lines, shown).allSatisfy(Self.fits), "$ \(step.command)\n\(text)")
    }
  }
}
