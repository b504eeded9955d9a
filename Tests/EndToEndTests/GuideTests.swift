import Foundation
import GraphTesting
import Testing

/// What the guides show is built with this package and says what the page says that it does.
@Suite struct GuideTests {
  /// The blocks of a language on a page; an empty one for blocks without.
  private func blocks(_ language: String, _ page: String) -> [String] {
    var found = [String]()
    var open: String?
    var lines = [Substring]()
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if open == nil, line.hasPrefix("```") {
        open = String(line.dropFirst(3))
        lines = []
      } else if line == "```" {
        if open == language { found.append(lines.map { $0 + "\n" }.joined()) }
        open = nil
      } else {
        lines.append(line)
      }
    }
    return found
  }

  private func file(_ path: String) throws -> String { String(decoding: try Fixtures.file(path), as: UTF8.self) }

  @Test(arguments: [
    ("modelling", "Modelling"), ("fetching", "Fetching"), ("live-queries", "LiveQueries"), ("faulting", "Faulting"),
    ("conflicts", "Conflicts"), ("undo", "Undo"),
  ])
  func theProgramOfTheGuideDoesWhatThePageSays(guide: String, name: String) throws {
    let page = try file("docs/guides/\(guide).md")
    let program = try file("docs/examples/guides/\(name).swift")
    #expect(blocks("swift", page).contains(program), "docs/guides/\(guide).md shows another program")
    let expected = try #require(blocks("", page).first)

    let company = try Company()
    let process = Process()
    process.executableURL = Daemon.binary("company-guides")
    process.arguments = [guide, company.daemon.socket.description]
    let result = try process.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == expected)
  }

  @Test func theModelOfTheGuidesIsTheOneOfThePage() throws {
    #expect(try file("Schema/Company/1.json") == Company.source() + "\n")
  }
}
