import Foundation
import GraphTesting
import Testing

/// The commands of docs/http.md, as a reader runs them.
@Suite(.timeLimit(.minutes(1))) struct HTTPPageTests {
  @Test func commandsOfThePageAreAnswered() throws {
    let page = try String(contentsOfFile: Fixtures.root + "/docs/http.md", encoding: .utf8)
    let commands = page.split(separator: "\n").filter { $0.hasPrefix("curl ") }
    #expect(commands.count >= 3)
    let daemon = try Daemon()
    try daemon.start(["--http", "127.0.0.1:0"])
    defer { _ = daemon.stop() }
    let address = try #require(daemon.listening.first { $0.hasPrefix("http://") })
    for command in commands {
      // A stream ends with its first event.
      let bounded = command.replacing("entity=Note", with: "entity=Note&limit=1")
        .replacing("-d query=Board", with: "-d query=Board -d limit=1")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", bounded.replacing("http://127.0.0.1:7418", with: address) + " -sf --max-time 20"]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(command)")
      #expect(text.contains("\"revision\":"), "\(command): \(text)")
    }
  }
}
