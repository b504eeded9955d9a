import Foundation
import GraphTesting
import Testing

/// The program of docs/guides/offline.md, killed and started again while its server is away.
@Suite(.timeLimit(.minutes(2))) struct OfflineGuideTests {
  private let company: CompanyDaemon
  private let folder: String

  init() throws {
    company = try CompanyDaemon()
    folder = company.daemon.home.path + "/kept"
  }

  /// The program while it runs.
  private final class Program {
    private let process = Process()
    private let (input, output, errors) = (Pipe(), Pipe(), Pipe())

    init(_ arguments: [String]) throws {
      process.executableURL = Daemon.binary("company-offline")
      process.arguments = arguments
      process.standardInput = input
      process.standardOutput = output
      process.standardError = errors
      try process.run()
    }

    func write(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// The output up to a text, or to its end.
    func read(until mark: String) -> String {
      var text = ""
      while !text.contains(mark) {
        let bytes = output.fileHandleForReading.availableData
        if bytes.isEmpty { break }
        text += String(decoding: bytes, as: UTF8.self)
      }
      return text
    }

    /// Closes its input and waits for its end.
    func end() throws -> Daemon.Result {
      try input.fileHandleForWriting.close()
      return Daemon.Result(of: process, output: output, errors: errors)
    }

    func kill() {
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }
  }

  private func start() throws -> Program { try Program([company.daemon.socket.description, folder]) }

  @Test func killedProgramOfTheGuideLosesNoEdit() throws {
    let page = String(decoding: try Fixtures.file("docs/guides/offline.md"), as: UTF8.self)
    let source = String(decoding: try Fixtures.file("docs/examples/offline/Offline.swift"), as: UTF8.self)
    #expect(page.contains("```swift\n\(source)```"), "the guide shows another program")

    let first = try start()
    try first.write("ENG")
    let online = try first.end()
    #expect(online.status == 0 && !online.output.isEmpty && page.contains("\n\(online.output)"), "\(online)")
    company.daemon.kill()
    for code in ["OPS", "LAB"] {
      let program = try start()
      try program.write(code)
      #expect(program.read(until: "\n") == "saved \(code)\n")
      program.kill()
    }
    let offline = try start().end()
    #expect(offline.output == "offline: ENG LAB OPS\n2 not sent, 0 in conflict\n", "\(offline)")
    #expect(page.contains("\n\(offline.output)"))
    try company.daemon.start(["--schema", company.schema])
    // Killed wherever they are: before the connection, or while the edits are sent.
    for _ in 0..<5 { try start().kill() }
    let again = try start().end()
    #expect(again.output == "online: ENG LAB OPS\n0 not sent, 0 in conflict\n", "\(again)")
    #expect(page.contains("\n\(again.output)"))
    #expect(try company.count("Department") == 3)
    #expect(company.daemon.stop() == 0)
  }
}
