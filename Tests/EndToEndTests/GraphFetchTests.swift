import GraphModel
import GraphTesting
import Testing

/// `stickies graph fetch` beyond whole objects: the daemon counts, pages, groups and explains.
@Suite struct GraphFetchTests {
  /// Two departments: three people in ENG, one in OPS.
  private func company() throws -> CompanyDaemon {
    let company = try CompanyDaemon()
    let engineering = try company.department("ENG")
    let operations = try company.department("OPS")
    for (name, place, days) in [("Ann", engineering, 25), ("Ben", engineering, 30), ("Cleo", engineering, 25)] {
      _ = try company.person(name, in: place, "vacationDays=\(days)")
    }
    _ = try company.person("Dan", in: operations, "vacationDays=20")
    return company
  }

  @Test func countsAndIDsAreComputedByDaemon() throws {
    let company = try company()
    #expect(try company.run("fetch", "Person", "--count").output == "4\n")
    #expect(try company.run("fetch", "Person", "--count", "--where", "vacationDays == 25").output == "2\n")
    #expect(try company.run("fetch", "Person", "--count", "--limit", "3", "--json").json()["count"] == .integer(3))
    let ids = try company.run("fetch", "Person", "--ids", "--sort", "-name", "--json").json().arrayValue ?? []
    let whole = try company.run("fetch", "Person", "--sort", "-name", "--json").json().arrayValue ?? []
    #expect(ids.count == 4)
    #expect(ids == whole.map { $0["id"] ?? .null })
  }

  @Test func commitsOfAnyModelAreListedUndoneAndRedone() throws {
    let company = try company()
    let changed = try company.run("update", "Person", "--where", "name == \"Dan\"", "remote=yes")
    #expect(changed.status == 0, "\(changed.errors)")
    func remote() throws -> Int64? { try company.count("Person", where: "remote == TRUE") }
    #expect(try remote() == 1)
    #expect(try company.run("undo").status == 0)
    #expect(try remote() == 0)
    #expect(try company.run("redo").status == 0)
    #expect(try remote() == 1)
    let log = try company.run("log", "--limit", "2", "--json").json()
    #expect(log[0]?["redoes"] != nil && log[1]?["undoes"] != nil, "\(log.text)")
    #expect(try company.run("undo", author: "nobody@test").status == 4)
  }

  @Test func namedFetchRequestTakesVariables() throws {
    let company = try CompanyDaemon()
    let department = try company.department("ENG")
    let client = try company.insert("Client", "name=Acme")
    for (title, due) in [("old", "2026-01-01"), ("older", "2025-01-01"), ("new", "2027-01-01")] {
      _ = try company.insert("Project", "title=\(title)", "department=\(department)", "client=\(client)", "due=\(due)")
    }
    let overdue = try company.run(
      "fetch", "--template", "overdue", "--set", "now=2026-06-01", "--set", "client=Acme", "--json"
    ).json()
    #expect(overdue.arrayValue?.map { $0["title"] } == [.string("older"), .string("old")])
    let narrowed = try company.run(
      "fetch", "--template", "overdue", "--set", "now=2026-06-01", "--set", "client=Acme", "--where",
      "title == \"old\"", "--count")
    #expect(narrowed.output == "1\n")
    _ = try company.insert("Project", "title=own", "department=\(department)", "due=2026-02-01")
    let own = try company.run(
      "fetch", "--template", "overdue", "--set", "now=2026-06-01", "--set", "client:=null", "--json"
    ).json()
    #expect(own.arrayValue?.map { $0["title"] } == [.string("own")])
    let other = try company.run(
      "fetch", "Client", "--template", "overdue", "--set", "now=2026-06-01", "--set", "client=Acme")
    #expect(other.status == 64)
    #expect(other.errors.contains("the template overdue fetches Project, not Client"), "\(other.errors)")
    let twice = try company.run(
      "fetch", "--template", "overdue", "--set", "client=Acme", "--set", "now=2026-06-01", "--set", "client:=null")
    #expect(twice.status == 64)
    #expect(twice.errors.contains("--set gives client twice"), "\(twice.errors)")
    let missing = try company.run("fetch", "--template", "overdue", "--set", "client=Acme")
    #expect(missing.status == 64)
    #expect(missing.errors.contains("overdue needs more values: add --set now=VALUE\n"), "\(missing.errors)")
    let misnamed = try company.run("fetch", "--template", "overdue", "--set", "nwo=2026-06-01")
    #expect(misnamed.errors.contains("overdue has no variable $nwo"), "\(misnamed.errors)")
    let unknown = try company.run("fetch", "--template", "nope")
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("it has overdue, largeDepartments"), "\(unknown.errors)")
    let misspelt = try company.run("fetch", "--template", "overdu")
    #expect(misspelt.status == 64)
    #expect(misspelt.errors.contains("Did you mean \"overdue\"?"), "\(misspelt.errors)")
    #expect(try company.run("fetch").status == 64)
  }

  @Test func pagesContinueAfterTheirCursor() throws {
    let company = try company()
    let first = try company.run("fetch", "Person", "--sort", "-vacationDays,name", "--limit", "3", "--ids")
    #expect(first.lines.count == 3)
    let hint = try #require(first.errors.split(separator: "\n").last { $0.hasPrefix("there are more: --after ") })
    let cursor = String(hint.dropFirst("there are more: --after ".count))
    let second = try company.run(
      "fetch", "Person", "--sort", "-vacationDays,name", "--limit", "3", "--after", cursor, "--properties", "name",
      "--json"
    ).json()
    #expect(second["objects"]?.arrayValue?.map { $0["name"] } == [.string("Dan")])
    #expect(second["next"] == .null)
    let page = try company.run("fetch", "Person", "--sort", "name", "--limit", "1", "--after", "", "--json").json()
    #expect(page["objects"]?.count == 1)
    #expect(page["next"]?.stringValue?.isEmpty == false)
    let elsewhere = try company.run("fetch", "Person", "--sort", "name", "--after", cursor)
    #expect(elsewhere.status == 64)
    #expect(elsewhere.errors.contains("the cursor belongs to a fetch of another entity or order"))
    let garbage = try company.run("fetch", "Person", "--after", "AAAA")
    #expect(garbage.status == 64)
    #expect(garbage.errors.contains("this is not a cursor"))
    #expect(try company.run("fetch", "Person", "--limit", "4").errors == "")
  }

  /// The rows have no position from which a next page could continue.
  @Test(arguments: [["--group-by", "vacationDays"], ["--properties", "vacationDays", "--distinct"]])
  func groupsAndDistinctRowsPageByLimitAndOffset(options: [String]) throws {
    let company = try company()
    func fetch(_ more: [String]) throws -> Daemon.Result {
      try Daemon.run(
        ["graph", "fetch", "Person", "--sort", "vacationDays"] + options + more,
        server: company.daemon.socket.description, author: "ann@test", input: nil)
    }
    for cursor in ["", "AAAA"] {
      let refused = try fetch(["--after", cursor])
      #expect(refused.status == 64)
      #expect(
        refused.errors.hasPrefix(
          "stickies: groups and distinct rows have no cursor: leave out --after, and page them with --limit and --offset\n"
        ))
    }
    let second = try fetch(["--limit", "1", "--offset", "1", "--json"]).json()
    #expect(second.arrayValue?.map { $0["vacationDays"] } == [.integer(25)])
  }

  @Test func rowsContainCalculatedColumns() throws {
    let company = try company()
    let rows = try company.run(
      "fetch", "Person", "--sort", "name", "--limit", "2", "--properties",
      "name,department.code,vacationDays*2 AS twice", "--json"
    ).json()
    #expect(
      rows.arrayValue?.first
        == .object([
          .init("name", .string("Ann")), .init("department.code", .string("ENG")), .init("twice", .integer(50)),
        ]))
    #expect(rows.count == 2)
    let table = try company.run("fetch", "Person", "--sort", "name", "--properties", "name,department.code").lines
    #expect(table.first?.split(separator: " ") == ["NAME", "DEPARTMENT.CODE"])
    #expect(table.last?.split(separator: " ") == ["Dan", "OPS"])
    let distinct = try company.run("fetch", "Person", "--properties", "vacationDays", "--distinct", "--json").json()
    #expect(distinct.arrayValue?.map { $0["vacationDays"] } == [20, 25, 30].map { .integer($0) })
    let wrong = try company.run("fetch", "Person", "--properties", "name,department.cod")
    #expect(wrong.status == 64)
    #expect(wrong.errors.contains("--properties can't be read at column 6: Department has no property \"cod\""))
  }

  @Test func groupsAreCountedAndSummed() throws {
    let company = try company()
    let groups = try company.run(
      "fetch", "Person", "--group-by", "department.code", "--properties",
      "department.code,@count,@sum.vacationDays,@avg.vacationDays AS mean", "--sort", "-@count", "--json"
    ).json()
    // A whole number is printed as one.
    let expected = [("ENG", 3, 80, JSON.double(80.0 / 3)), ("OPS", 1, 20, .integer(20))].map { code, count, sum, mean in
      JSON.object([
        .init("department.code", .string(code)), .init("@count", .integer(count)),
        .init("@sum.vacationDays", .integer(sum)),
        .init("mean", mean),
      ])
    }
    #expect(groups.arrayValue == expected)
    #expect(
      try company.run("fetch", "Person", "--group-by", "department.code").lines.map { $0.split(separator: " ") }
        == [["DEPARTMENT.CODE", "@COUNT"], ["ENG", "3"], ["OPS", "1"]])
    let whole = try company.run("fetch", "Person", "--properties", "@count,@max.name", "--json").json()
    #expect(whole.arrayValue == [.object([.init("@count", .integer(4)), .init("@max.name", .string("Dan"))])])
    let wrong = try company.run("fetch", "Person", "--group-by", "department.code", "--properties", "name,@count")
    #expect(wrong.status == 64)
    #expect(wrong.errors.contains("--properties can't be read at column 1: name is neither an aggregate"))
  }

  @Test func groupsAndDistinctRowsAreCountedAsRows() throws {
    let company = try company()
    func count(_ options: String...) throws -> String {
      let result = try Daemon.run(
        ["graph", "fetch", "Person", "--count"] + options, server: company.daemon.socket.description,
        author: "ann@test", input: nil)
      #expect(result.status == 0, "\(options): \(result.errors)")
      return result.output
    }
    #expect(try count("--group-by", "department.code") == "2\n")
    #expect(try count("--group-by", "department.code, vacationDays") == "3\n")
    #expect(try count("--properties", "vacationDays", "--distinct") == "3\n")
    #expect(try count("--properties", "vacationDays", "--distinct", "--where", "vacationDays > 20") == "2\n")
    #expect(try count("--properties", "vacationDays", "--distinct", "--offset", "2", "--limit", "5") == "1\n")
    #expect(try count("--group-by", "name", "--where", "name == \"Nobody\"") == "0\n")
    #expect(try count("--group-by", "name", "--json") == "{\"count\":4}\n")
  }

  @Test func refusedCombinationGivesAdvice() throws {
    let company = try company()
    for (words, sentence) in [
      (["--count", "--properties", "name"], "leave out --properties, or use --distinct to count the different rows"),
      (["--count", "--after", ""], "--count counts all that match: leave out --after"),
      (["--ids", "--properties", "name"], "leave out --properties, --distinct and --group-by"),
      // One group of all objects, whose row is no position for a cursor.
      (["--properties", "@count", "--after", ""], "page them with --limit and --offset"),
    ] {
      let result = try Daemon.run(
        ["graph", "fetch", "Person"] + words, server: company.daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 64)
      #expect(result.errors.contains(sentence), "\(words): \(result.errors)")
      #expect(result.output.isEmpty)
    }
  }

  @Test func transientPropertyIsNotAColumn() throws {
    let company = try company()
    for command in [["--properties", "name,isSelected"], ["--properties", "name,isSelected", "--json"]] {
      let result = try Daemon.run(
        ["graph", "fetch", "Party"] + command, server: company.daemon.socket.description, author: "ann@test", input: nil
      )
      #expect(result.status == 64)
      #expect(result.errors.contains("isSelected is transient: it is not stored"), "\(result.errors)")
    }
  }

  @Test func fetchIsExplained() throws {
    let company = try company()
    let text = try company.run("fetch", "Person", "--where", "hired > \"2019-01-01\"", "--sort", "hired", "--explain")
      .output
    #expect(text.hasPrefix("SELECT "))
    #expect(text.contains("by the index Party.Person.hired"))
    #expect(text.contains("SQL decides alone"))
    #expect(text.contains("4 results in "))
    let json = try company.run(
      "fetch", "Person", "--where", "vacationDays == 25", "--explain", "--json"
    ).json()
    #expect(json["count"] == .integer(2))
    #expect(json["advice"] == .array([.string("Person.vacationDays")]))
    #expect(json["plan"]?[0]?.stringValue?.hasPrefix("reads all 4 objects of Party") == true)
  }

  @Test(arguments: [
    ["--count", "--distinct"], ["--distinct"], ["--after", "", "--count"], ["--ids", "--group-by", "name"],
    ["--after", "AAAA", "--offset", "1"],
  ])
  func incompatibleOptionsAreUsageErrors(words: [String]) throws {
    let result = try Daemon.run(
      ["graph", "fetch", "Person"] + words, server: "unix:///nowhere", author: "ann@test", input: nil)
    #expect(result.status == 64)
  }
}
