import Foundation
import GraphTesting
import Testing

/// docs/guides/backup.md, line by line: each command prints the output that the page shows.
@Suite struct BackupGuideTests {
  private func steps() throws -> [ConsoleStep] {
    let page = String(decoding: try Fixtures.file("docs/guides/backup.md"), as: UTF8.self)
    return ConsoleStep.read(page)
  }

  /// Sizes, times and process ids differ from run to run.
  private func plain(_ text: String) -> String {
    text.replacing(#/\d{8}T\d{6}Z(-\d+)?/#, with: "DATE").replacing(#/\d+(\.\d+)? (bytes|s)\b/#) { "N \($0.output.2)" }
      .replacing(#/process \d+/#, with: "process N")
  }

  @Test func everyCommandPrintsDocumentedOutput() throws {
    let steps = try steps()
    #expect(steps.count >= 11)
    let daemon = try Daemon()
    try daemon.start()
    var dates = [String]()
    for step in steps {
      switch step.command {
      case "systemctl --user stop stickiesd": #expect(daemon.stop() == 0)
      case "systemctl --user start stickiesd": try daemon.start()
      default:
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.currentDirectoryURL = URL(fileURLWithPath: daemon.home.path)
        process.environment = ProcessInfo.processInfo.environment.merging([
          "XDG_CONFIG_HOME": daemon.home.path, "STICKIESD_DATA": "data", "STICKIES_SERVER": daemon.socket.description,
          "STICKIES_AUTHOR": "ann@test", "NO_COLOR": "1",
          "PATH": Daemon.binary("stickies").deletingLastPathComponent().path + ":/usr/bin:/bin",
        ]) { $1 }
        // The page's date is the one of the run.
        let command = dates.reduce(step.command) { $0.replacing("20261121T205432Z", with: $1) }
        process.arguments = ["-c", command + " 2>&1"]
        let text = try process.result().output
        dates += text.matches(of: #/before-(\d{8}T\d{6}Z(-\d+)?)/#).map { String($0.output.1) }.prefix(
          dates.isEmpty ? 1 : 0)
        #expect(plain(text) == plain(step.output), "$ \(command)")
      }
    }
    if daemon.process.isRunning { #expect(daemon.stop() == 0) }
  }
}
