import Foundation
import GraphModel
import GraphTesting
import Testing

/// The model that docs/model-format.md ends with, served from its file and used through `stickies graph` alone, with
/// one of everything that it has. One daemon, one story.
@Suite struct CompanyScenarioTests {
  @Test func everyPartOfModelWorksAsDocumented() throws {
    let company = try CompanyDaemon()
    let people = try hire(company)
    try reorganize(company, people)
    let project = try plan(company, people)
    try order(company, project)
    try breakEveryRule(company, people, project)
    try find(company, people)
    try close(company, people, project)
    #expect(company.daemon.stop() == 0)
    try company.daemon.expectSound(["--schema", company.schema])
  }

  // MARK: - The chapters

  /// Two departments, a boss with two reports, a contractor, a client: inheritance, a composite, one shared sequence.
  private func hire(_ company: CompanyDaemon) throws -> [String: String] {
    let input = [
      #"{"$entity": "Department", "$id": "eng", "code": "ENG"}"#,
      #"{"$entity": "Department", "$id": "ops", "code": "OPS"}"#,
      #"{"$id": "ann", "name": "Ann", "hired": "2020-01-01", "department": "eng", "email": "ann@example.org", "#
        + #""address.street": "Main 1", "address.zip": "01234", "address.city": "Fürth", "salary": "5000.50"}"#,
      #"{"$id": "ben", "name": "Ben", "hired": "2021-05-01", "department": "eng", "manager": {"$ref": "ann"}}"#,
      #"{"$id": "zoe", "name": "Zoë 🦊", "hired": "2022-01-01", "department": "ops", "manager": "ann"}"#,
      #"{"$entity": "Contractor", "$id": "con", "name": "Con", "hired": "2023-01-01", "department": "eng", "#
        + #""agency": "Lend", "badge": "7", "manager": "ben"}"#,
      #"{"$entity": "Client", "$id": "cli", "name": "Acme", "homepage": "https://example.org/"}"#,
    ].joined(separator: "\n")
    let made = try company.run("insert", "Person", "-", "--json", input: input)
    #expect(made.status == 0, "\(made.errors)")
    var ids = [String: String]()
    for line in try made.lines.map({ try JSON(parsing: $0) }) {
      ids[try #require(line["$id"]?.stringValue)] = try #require(line["id"]?.stringValue)
    }
    let parties = try company.run("fetch", "Party", "--sort", "number", "--json").json().arrayValue ?? []
    #expect(parties.map { $0["number"] } == (1...5).map { JSON.integer($0) })
    #expect(parties.map { $0["entity"] } == ["Person", "Person", "Person", "Contractor", "Client"].map(JSON.string))
    #expect(parties[0]["address.city"] == .string("Fürth") && parties[0]["salary"] == .string("5000.5"))
    #expect(parties[3]["dayRate"] == .string("640") && parties[3]["vacationDays"] == .integer(25))
    #expect(parties[0]["isSelected"] == nil, "transient: no store has it")
    return ids
  }

  /// Managers are people: a cycle, both ends at once, a count that follows.
  private func reorganize(_ company: CompanyDaemon, _ ids: [String: String]) throws {
    let (ann, ben, zoe) = (try #require(ids["ann"]), try #require(ids["ben"]), try #require(ids["zoe"]))
    #expect(try show(company, ann)["reports"]?.count == 2)
    try must(company, "update", ann, "manager=\(ben)")
    #expect(try show(company, ben)["reports"]?.count == 2, "the contractor and the boss")
    try must(company, "update", ben, "--add", "reports=\(zoe)")
    #expect(try show(company, zoe)["manager"] == .string(ben))
    try must(company, "update", ann, "manager:=null")
    #expect(try headcounts(company) == ["ENG": 3, "OPS": 1])
    try must(company, "update", zoe, "department=\(try #require(ids["eng"]))")
    #expect(try headcounts(company) == ["ENG": 4, "OPS": 0])
    #expect(try company.count("Person", where: "manager.manager.name == \"Ann\" OR manager.name == \"Ann\"") == 3)
  }

  /// A project with people, a client and texts; its key is derived, and unique in a department.
  private func plan(_ company: CompanyDaemon, _ ids: [String: String]) throws -> String {
    let (eng, ann, con) = (try #require(ids["eng"]), try #require(ids["ann"]), try #require(ids["con"]))
    let project = try company.insert(
      "Project", "title=Launch", "department=\(eng)", "client=\(try #require(ids["cli"]))", "members=\(ann),\(con)",
      "plan=First the rocket, then the party", "starts=2026-01-01", "due=2026-02-01")
    let shown = try show(company, project)
    #expect(shown["key"] == .string("launch") && shown["status"] == .string("planned"))
    #expect(shown["weight"] == .integer(1) || shown["weight"] == .double(1))
    let same = try company.run("insert", "Project", "title=LAUNCH", "department=\(eng)", "--json")
    #expect(same.status == 2)
    #expect(try same.refusal()["code"] == .string("unique"))
    // The key has two properties; either value alone would be allowed.
    let violation = try #require(try same.refusal()["violations"]?[0])
    #expect(violation["property"] == .string("department") && violation["value"] == .string(eng))
    #expect(violation["others"] == .object([.init("key", .string("launch"))]))
    let reported = try company.run("insert", "Project", "title=LAUNCH", "department=\(eng)").errors
    #expect(reported.contains("(unique, department Department \(eng.prefix(8)) ENG, key \"launch\")"), "\(reported)")
    _ = try company.insert("Project", "title=LAUNCH", "department=\(try #require(ids["ops"]))")
    try must(company, "update", project, "--add", "members=\(try #require(ids["ben"]))", "--remove", "members=\(con)")
    #expect(try show(company, con)["projects"] == .array([]))
    #expect(try company.count("Person", where: "ANY projects.title == \"Launch\"") == 2)
    #expect(try company.count("Project", where: "plan SEARCH \"ocket\"") == 0)
    #expect(try company.count("Project", where: "plan SEARCH \"rocket\" AND members.@count == 2") == 1)
    return project
  }

  /// The steps have the order in which they were inserted.
  private func order(_ company: CompanyDaemon, _ project: String) throws {
    let ids = try ["Design", "Build", "Test", "Fly"].map {
      try company.insert("Step", "title=\($0)", "project=\(project)")
    }
    #expect(try steps(company, project) == ["Design", "Build", "Test", "Fly"])
    let list = [ids[3], ids[0], ids[2], ids[1]]
    try must(company, "update", project, "steps=" + list.joined(separator: ","))
    #expect(try steps(company, project) == ["Fly", "Design", "Test", "Build"])
    try must(company, "delete", ids[0])
    #expect(try steps(company, project) == ["Fly", "Test", "Build"])
    #expect(try show(company, project)["steps"] == .array([ids[3], ids[2], ids[1]].map(JSON.string)))
  }

  /// Each violation is refused with the name of the rule, and changes nothing.
  private func breakEveryRule(_ company: CompanyDaemon, _ ids: [String: String], _ project: String) throws {
    let (ann, ben) = (try #require(ids["ann"]), try #require(ids["ben"]))
    let mistakes: [([String], String)] = [
      (["update", ann, "address.zip=1234"], "pattern"), (["update", ann, "email=nobody"], "pattern"),
      (["update", ann, "salary=10000000"], "maximum"), (["update", ann, "vacationDays=-1"], "minimum"),
      (["update", ann, "hired=1989-12-31"], "minimum"), (["update", ann, "name="], "minimumLength"),
      (["update", ann, "hired:=null"], "required"), (["update", ann, "department:=null"], "required"),
      (["update", ann, "number=9"], "assigned"), (["update", project, "key=x"], "assigned"),
      (["update", project, "due=2025-12-31"], "endsAfterItStarts"),
      (["update", project, "status=done", "starts:=null"], "doneHasStarted"),
      (["update", ben, "email=ann@example.org"], "unique"),
      (
        [
          "insert", "Contractor", "name=C", "hired=2024-01-01", "department=\(try #require(ids["eng"]))", "agency=Lend",
          "badge=7",
        ], "unique"
      ),
      (["delete", ann], "deny"), (["delete", try #require(ids["eng"])], "deny"),
    ]
    let before = try company.run("fetch", "Party", "--json").output
    for (words, rule) in mistakes {
      let result = try Daemon.run(
        ["graph"] + words + ["--json"], server: company.daemon.socket.description, author: "ann@test", input: nil)
      #expect(result.status == 2, "\(words)")
      let rules = try result.refusal()["violations"]?.arrayValue?.map { $0["rule"] } ?? []
      #expect(rules.contains(.string(rule)), "\(words): \(result.errors)")
    }
    // A refusal that concerns no single value names no property.
    let derived = try company.run("update", project, "key=x")
    #expect(derived.errors.contains("(assigned)") && !derived.errors.contains("value null"), "\(derived.errors)")
    #expect(try company.run("fetch", "Party", "--json").output == before)
  }

  private func find(_ company: CompanyDaemon, _ ids: [String: String]) throws {
    for (entity, predicate, count) in [
      ("Party", "name SEARCH \"acme\"", 1), ("Party", "name ==[cd] \"zoe 🦊\"", 1),
      ("Person", "address.zip == \"01234\"", 1), ("Person", "manager.address.city BEGINSWITH \"F\"", 1),
      ("Department", "headcount >= 4", 1), ("Department", "staff.@avg.vacationDays == 25", 1),
      ("Person", "SUBQUERY(reports, $r, $r.reports.@count > 0).@count > 0", 1),
      ("Project", "due - days(31) >= starts", 1), ("Project", "ANY members.manager == NULL", 1),
      ("Step", "project.department.code == \"ENG\"", 3), ("Contractor", "agency MATCHES \"L.*d\"", 1),
    ] {
      #expect(try company.count(entity, where: predicate) == Int64(count), "\(predicate)")
    }
    let sorted = try company.run("fetch", "Person", "--sort", "-department.headcount,name[localized]", "--json").json()
    #expect(sorted.arrayValue?.map { $0["name"] } == ["Ann", "Ben", "Con", "Zoë 🦊"].map(JSON.string))
    // The named fetch requests of the model.
    let model = try Model(parsing: try CompanyDaemon.source().utf8)
    let overdue = try #require(model.fetchRequest(named: "overdue"))
    let request = try overdue.request(
      with: ["now": .string("2027-01-01"), "client": .string("Acme")], model: model)
    let late = try company.run(
      "fetch", "Project", "--where", request.predicate.text(in: model), "--sort", request.sort.text(in: model),
      "--limit", "\(try #require(request.limit))", "--json"
    ).json()
    #expect((late.arrayValue ?? []).map { $0["title"]?.stringValue } == ["Launch"])
  }

  /// Objects that prevent the delete are deleted first; a department without staff takes its projects along, and they
  /// their steps.
  private func close(_ company: CompanyDaemon, _ ids: [String: String], _ project: String) throws {
    try must(company, "delete", try #require(ids["cli"]))
    #expect(try show(company, project)["client"] == .null)
    // All denied deletes are reported together.
    try must(company, "delete", "Person", "--where", "TRUEPREDICATE")
    #expect(try headcounts(company) == ["ENG": 0, "OPS": 0])
    #expect(try show(company, project)["members"] == .array([]))
    try must(company, "delete", try #require(ids["eng"]))
    #expect(try [company.count("Project"), company.count("Step"), company.count("Party")] == [1, 0, 0])
    try must(company, "delete", "Department", "--where", "headcount == 0")
    #expect(try company.count("Project") == 0)
  }

  // MARK: - Words for the above

  private func must(_ company: CompanyDaemon, _ words: String..., place: SourceLocation = #_sourceLocation) throws {
    let result = try Daemon.run(
      ["graph"] + words, server: company.daemon.socket.description, author: "ann@test", input: nil)
    #expect(result.status == 0, "\(words): \(result.errors)", sourceLocation: place)
  }

  private func show(_ company: CompanyDaemon, _ id: String) throws -> JSON {
    try company.run("show", id, "--json").json()
  }

  private func headcounts(_ company: CompanyDaemon) throws -> [String: Int64] {
    let departments = try company.run("fetch", "Department", "--json").json().arrayValue ?? []
    return Dictionary(
      uniqueKeysWithValues: departments.map { ($0["code"]?.stringValue ?? "", $0["headcount"]?.integerValue ?? -1) })
  }

  private func steps(_ company: CompanyDaemon, _ project: String) throws -> [String] {
    try company.run(
      "fetch", "Step", "--where", "project == \"\(project)\"", "--sort", "project.order", "--properties", "title",
      "--json"
    ).json().arrayValue?.map { $0["title"]?.stringValue ?? "" } ?? []
  }
}
