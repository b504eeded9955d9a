import ArgumentParser
import GraphModel
import Testing

@testable import GraphShell

/// The help of the shell's commands.
@Suite struct HelpTests {
  private struct Text {
    let place: String
    let text: String
  }

  /// The abstracts of a command and its subcommands, and the texts of their arguments and options.
  private static func texts(_ command: JSON, _ path: [String] = []) -> [Text] {
    let name = command["commandName"]?.stringValue ?? ""
    guard name != "help", command["shouldDisplay"] != .bool(false) else { return [] }
    let path = path + [name]
    let place = path.joined(separator: " ")
    let arguments = (command["arguments"]?.arrayValue ?? []).filter { $0["shouldDisplay"] == .bool(true) }
    // The root of the test's program has no abstract.
    return (path.count > 1 ? [Text(place: place, text: command["abstract"]?.stringValue ?? "")] : [])
      + arguments.map { argument in
        let name = argument["valueName"]?.stringValue ?? argument["preferredName"]?["name"]?.stringValue ?? ""
        return Text(place: "\(place) \(name)", text: argument["abstract"]?.stringValue ?? "")
      } + (command["subcommands"]?.arrayValue ?? []).flatMap { texts($0, path) }
  }

  @Test func everyCommandAndOptionHasASentence() throws {
    let dump = try CompanyProgram.run { try JSON(parsing: CompanyCommand._dumpHelp()) }
    let texts = Self.texts(try #require(dump["command"]))
    #expect(texts.count > 150)
    for text in texts {
      #expect(text.text.first?.isUppercase == true, "\(text.place): \(text.text)")
      #expect(text.text.hasSuffix(".") || text.text.hasSuffix(")"), "\(text.place): \(text.text)")
    }
  }
}
