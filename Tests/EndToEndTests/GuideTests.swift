import Foundation
import GraphModel
import GraphTesting
import Testing

/// The guides' programs are built with this package and print the documented output.
@Suite struct GuideTests {
  /// The code blocks of a page in their order, each with its language; empty for blocks without a language.
  private func blocks(_ page: String) -> [(language: String, text: String)] {
    var found = [(language: String, text: String)]()
    var open: String?
    var lines = [Substring]()
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if open == nil, line.hasPrefix("```") {
        open = String(line.dropFirst(3))
        lines = []
      } else if line == "```", let language = open {
        found.append((language, lines.map { $0 + "\n" }.joined()))
        open = nil
      } else {
        lines.append(line)
      }
    }
    return found
  }

  private func file(_ path: String) throws -> String { String(decoding: try Fixtures.file(path), as: UTF8.self) }

  @Test(arguments: [
    ("modelling", "modelling", "Modelling"), ("fetching", "fetching", "Fetching"),
    ("live-queries", "live-queries", "LiveQueries"), ("live-queries", "live-windows", "LiveWindows"),
    ("faulting", "faulting", "Faulting"), ("conflicts", "conflicts", "Conflicts"), ("undo", "undo", "Undo"),
  ])
  func guideProgramPrintsDocumentedOutput(page: String, guide: String, name: String) throws {
    let blocks = blocks(try file("docs/guides/\(page).md"))
    let program = try file("docs/examples/guides/\(name).swift")
    let place = try #require(
      blocks.firstIndex { $0 == ("swift", program) }, "docs/guides/\(page).md shows another program")
    // The expected output is the next block.
    let expected = try #require(blocks[place...].first { $0.language.isEmpty }).text

    let company = try CompanyDaemon()
    let process = Process()
    process.executableURL = Daemon.binary("company-guides")
    process.arguments = [guide, company.daemon.socket.description]
    let result = try process.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == expected)
  }

  /// Four pages show one import, and one of them the errors of a save; after the marker the code is this library's.
  @Test func importsOfGuidesRun() throws {
    func trimmed(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
    let program = trimmed(try file("docs/examples/guides/FromCoreData.swift"))
    for page in ["from-core-data", "from-swiftdata", "from-grdb", "background-contexts"] {
      let shown = blocks(try file("docs/guides/\(page).md")).map(\.text).filter { text in
        ["client.makeBackgroundContext()", "GraphError."].contains { text.contains($0) }
      }
      #expect(shown.count == (page == "from-core-data" ? 2 : 1), "\(page)")
      for block in shown {
        let lines = block.split(separator: "\n")
        let start = lines.lastIndex { $0.hasPrefix("// here") }.map { $0 + 1 }
        let part = trimmed(lines.suffix(from: start ?? lines.startIndex).joined(separator: "\n"))
        #expect(program.contains(part), "\(page) shows other code:\n\(part)")
      }
    }
    let company = try CompanyDaemon()
    let process = Process()
    process.executableURL = Daemon.binary("company-guides")
    process.arguments = ["from-core-data", company.daemon.socket.description]
    let result = try process.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output
        == "3 people in ENG\ninvalid: [\"vacationDays\"] maximum\nchanged by [\"bob@example\"]: name Clea\n")
  }

  @Test func shortModelOfGuideIsValid() throws {
    let blocks = blocks(try file("docs/guides/modelling.md"))
    let source = try #require(blocks.first { $0.language == "json" }).text
    let model = try Model(parsing: source.utf8)
    #expect(model.name == "ReadingList")
    let book = try #require(model.entity(named: "Book"))
    let author = try #require(model.entity(named: "Author"))
    // The guide documents which properties are required.
    #expect(book.property(named: "author")?.isOptional == false && book.property(named: "pages")?.isOptional == false)
    #expect(book.property(named: "finished")?.isOptional == true && author.property(named: "books") != nil)
  }

  @Test func embeddedProgramPrintsDocumentedOutput() throws {
    let blocks = blocks(try file("docs/guides/embedded.md"))
    let program = try file("docs/examples/embedded/main.swift")
    let place = try #require(blocks.firstIndex { $0 == ("swift", program) }, "the guide shows another program")
    let expected = try #require(blocks[place...].first { $0.language.isEmpty }).text
    let directory = try TemporaryDirectory()
    let process = Process()
    process.executableURL = Daemon.binary("company-embedded")
    process.arguments = [directory.path + "/company"]
    let result = try process.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == expected)
  }

  @Test func shellOfGuideKnowsItsModel() throws {
    let program = try file("docs/examples/company-shell/main.swift")
    #expect(blocks(try file("docs/guides/shell.md")).contains { $0 == ("swift", program) })
    let company = try CompanyDaemon()
    func run(_ arguments: String..., server: String? = nil) throws -> Daemon.Result {
      let process = Process()
      process.executableURL = Daemon.binary("company-shell")
      process.arguments = arguments + ["--server", server ?? company.daemon.socket.description]
      return try process.result()
    }
    let department = try company.department()
    let inserted = try run(
      "graph", "insert", "Person", "name=Ann", "hired=2020-01-01", "department=\(department)", "vacationDays=25")
    #expect(inserted.status == 0, "\(inserted.errors)")
    #expect(try run("graph", "fetch", "Person", "--count").output == "1\n")
    let log = try run("log", "--limit", "1").output
    #expect(log.contains("  ann@example\n") && log.contains("    + employee Ann\n"), "\(log)")
    #expect(try run("graph", "fetch", "--help").output.contains("  company graph fetch Person --where"))
    let nowhere = try run("log", server: "unix:///nowhere")
    #expect(nowhere.status == 69 && nowhere.errors == "company: no daemon of the company answers at unix:///nowhere\n")
  }

  @Test func workerOfGuideWorksOnEightContexts() throws {
    let blocks = blocks(try file("docs/guides/background-contexts.md"))
    let program = try file("docs/examples/worker/Worker.swift")
    let place = try #require(
      blocks.firstIndex { $0 == ("swift", program) }, "docs/guides/background-contexts.md shows another program")
    let expected = try #require(blocks[place...].first { $0.language.isEmpty }).text

    let company = try CompanyDaemon()
    let process = Process()
    process.executableURL = Daemon.binary("company-worker")
    process.arguments = [company.daemon.socket.description]
    let result = try process.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == expected)
    let log = try company.run("log", "--limit", "9").output
    #expect(log.components(separatedBy: "payroll@example").count == 9, "\(log)")
  }

  @Test func guideModelMatchesItsPage() throws {
    #expect(try file("Schema/Company/1.json") == CompanyDaemon.source() + "\n")
  }
}
