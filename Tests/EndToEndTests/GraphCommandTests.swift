import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// `stickies graph` against a daemon of a model that the program has never seen.
@Suite struct GraphCommandTests {
  @Test func modelIsRequestedFromDaemon() throws {
    let company = try CompanyDaemon()
    let model = try company.run("entities", "--json").json()
    #expect(model["name"] == .string("Company"))
    let names = model["entities"]?.arrayValue?.map { $0["name"] }
    #expect(names == ["Party", "Person", "Contractor", "Client", "Department", "Project", "Step"].map(JSON.string))
    #expect(model["entities"]?[0]?["abstract"] == .bool(true))
    let person = try company.run("entities", "Person", "--json").json()
    #expect(person["parent"] == .string("Party"))
    let attributes = person["attributes"]?.arrayValue ?? []
    let hired = try #require(attributes.first { $0["name"] == .string("hired") })
    #expect(hired["type"] == .string("date"))
    #expect(hired["minimum"] == .string("1990-01-01T00:00:00.000000Z"))
    #expect(hired["indexed"] == .bool(true))
    #expect(hired["optional"] == .bool(false))
    #expect(attributes.first { $0["name"] == .string("name") }?["declaredBy"] == .string("Party"))
    let reports = try #require(person["relationships"]?.arrayValue?.first { $0["name"] == .string("reports") })
    #expect(reports["deleteRule"] == .string("deny"))
    #expect(reports["stored"] == .bool(false))
    #expect(Set(person["unique"]?.arrayValue ?? []) == [.array([.string("number")]), .array([.string("email")])])
    let text = try company.run("entities", "Person").output
    #expect(text.contains("An employee."))
    #expect(text.contains("required, default 25, 0 to 60"))
    let unknown = try company.run("entities", "Persn")
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("Did you mean \"Person\"?"))
  }

  /// A user without a model file sees the rules of each value.
  @Test func rulesOfModelAreRequestedFromDaemon() throws {
    let company = try CompanyDaemon()
    let model = try company.run("entities", "--json").json()
    let request = try #require(model["fetchRequests"]?[0])
    #expect(request["name"] == .string("overdue") && request["entity"] == .string("Project"))
    #expect(request["variables"] == .array([.string("now"), .string("client")]))
    #expect(request["limit"] == .integer(100))
    let project = try company.run("entities", "Project", "--json").json()
    let attributes = project["attributes"]?.arrayValue ?? []
    #expect(attributes.first { $0["name"] == .string("key") }?["derived"] == .string("lowercase(title)"))
    let steps = try #require(project["relationships"]?.arrayValue?.first { $0["name"] == .string("steps") })
    #expect(steps["ordered"] == .bool(true))
    #expect(project["rules"]?[0]?["message"] == .string("a project ends after it starts"))
    let person = try company.run("entities", "Person").output
    #expect(person.contains("matches [^@ ]+@[^@ ]+[.][A-Za-z]+"))
    #expect(person.contains("required, default false, transient"))
    let text = try company.run("entities", "Project").output
    #expect(text.contains("derived: lowercase(title)"))
    #expect(text.contains("endsAfterItStarts"))
    #expect(text.contains("delete rule cascade, ordered, stored at the other end"))
    #expect(try company.run("entities").output.contains("largeDepartments"))
  }

  @Test func objectsAreInsertedWithReferences() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let ann = try company.insert(
      "Person", "name=Ann", "hired=2020-01-01", "department=\(engineering)", "salary=1200.50", "remote=yes",
      "photo=aGVsbG8=", "homepage=https://example.org/", "settings:={\"theme\": [1, 2]}", "email=ann@example.org")
    let ben = try company.person("Ben", in: engineering, "manager=\(ann)")
    let project = try company.insert(
      "Project", "--values", #"{"title": "Launch", "status": "running", "weight": 0.5, "plan": "One\nTwo"}"#,
      "department=\(engineering)", "members=\(ann),\(ben)", "ticket=123e4567-e89b-12d3-a456-426614174000")
    let shown = try company.run("show", String(ann.prefix(10)), "--json").json()
    #expect(shown["entity"] == .string("Person"))
    #expect(shown["salary"] == .string("1200.5"))
    #expect(shown["remote"] == .bool(true))
    // An object that no store has is not shown as null.
    #expect(shown["isSelected"] == nil)
    let person = try company.run("show", "Person", ann).output
    #expect(person.contains("name: Ann\n"))
    #expect(!person.contains("isSelected"))
    #expect(shown["photo"] == .string("aGVsbG8="))
    #expect(shown["settings"] == .object([.init("theme", .array([.integer(1), .integer(2)]))]))
    #expect(shown["hired"] == .string("2020-01-01T00:00:00.000000Z"))
    #expect(shown["reports"] == .array([.string(ben)]))
    #expect(shown["projects"] == .array([.string(project)]))
    let text = try company.run("show", "Project", project).output
    #expect(text.contains("members: 2\n"))
    #expect(text.contains(" Ben\n"))
    #expect(text.contains("plan: One\n  Two\n"))
    let projects = try company.run("fetch", "Project", "--properties", "title,members", "--json").json()
    #expect(projects.count == 1)
    #expect(Set(projects[0]?["members"]?.arrayValue ?? []) == [.string(ann), .string(ben)])
    #expect(projects[0]?["status"] == nil)
    let staff = try company.run("fetch", "Department", "--properties", "code,staff", "--json").json()
    #expect(Set(staff[0]?["staff"]?.arrayValue ?? []) == [.string(ann), .string(ben)])
    let found = try company.run("fetch", "Party", "--where", "name == \"Ben\"", "--ids")
    #expect(found.output == ben + "\n")
    let second = try company.run("fetch", "Person", "--sort", "-name", "--offset", "1", "--limit", "1", "--json").json()
    #expect(second.arrayValue?.map { $0["id"] } == [.string(ann)])
    #expect(try company.run("fetch", "Person", "--count").output == "2\n")
    #expect(try company.run("fetch", "Client", "--json").output == "[]\n")
    let table = try company.run("fetch", "Person", "--sort", "name", "--properties", "name,manager").lines
    #expect(table.first?.split(separator: " ") == ["ID", "ENTITY", "NAME", "MANAGER"])
    #expect(table.last?.split(separator: " ") == [ben.prefix(8), "Person", "Ben", ann.prefix(8)])
  }

  @Test func orderedMembersAreListedInOrder() throws {
    let company = try CompanyDaemon()
    let project = try company.insert("Project", "title=Launch", "department=\(try company.department())")
    let steps = try ["one", "two", "three"].map { try company.insert("Step", "title=\($0)", "project=\(project)") }
    let order = [steps[2], steps[0], steps[1]]
    #expect(try company.run("update", project, "steps=" + order.joined(separator: ",")).status == 0)
    #expect(try company.run("show", project, "--json").json()["steps"] == .array(order.map(JSON.string)))
    let lines: [String] = try company.run("show", project).lines
    // One member moves; the command does not name the others.
    func moved(_ place: String) throws -> [String] {
      let result = try company.run("update", project, "--place", "steps=\(place)")
      #expect(result.status == 0, "\(result.errors)")
      let now = try company.run("show", project, "--json").json()["steps"]?.arrayValue ?? []
      return now.compactMap(\.stringValue).compactMap { id in steps.firstIndex(of: id).map { "\($0)" } }
    }
    #expect(try moved("\(steps[1]):first") == ["1", "2", "0"])
    #expect(try moved("\(steps[1]),\(steps[2]):last") == ["0", "1", "2"])
    #expect(try moved("\(steps[0]):\(steps[1])") == ["1", "0", "2"])
    for wrong in ["steps=x", "steps=\(steps[0]):", "steps=\(steps[0]):\(steps[0])", "title=a:first"] {
      let refused = try company.run("update", project, "--place", wrong)
      #expect(refused.status == 64, "\(wrong): \(refused.errors)")
    }
    let first = try #require(lines.firstIndex(of: "steps: 3"))
    let titles = lines[(first + 1)...].prefix(3).map { $0.components(separatedBy: " ").last ?? "" }
    #expect(titles == ["three", "one", "two"])
  }

  /// An error shows the value as it was typed, so that the user can find the mistake.
  @Test(arguments: [
    ("vacationDays:=42.5", "and not 42.5\n"), ("vacationDays:=1e-3", "and not 1e-3\n"),
    ("salary:=120.0", "and not 120.0\n"),
  ])
  func fractionIsPrintedAsFraction(value: String, end: String) throws {
    let company = try CompanyDaemon()
    let result = try company.run("insert", "Person", value)
    #expect(result.status == 64)
    #expect(result.errors.contains(end), "\(result.errors)")
  }

  @Test(arguments: [
    ("Person", "vacationDays=many", "Person.vacationDays takes a whole number of 64 bits, and not many"),
    ("Person", "remote=maybe", "Person.remote takes true or false, and not maybe"),
    ("Person", "salary=1,5", "Person.salary takes a decimal"),
    ("Person", "hired=yesterday", "Person.hired takes a date"),
    ("Person", "photo=a", "Person.photo takes bytes in base 64, and not a"),
    ("Person", "homepage=nowhere", "Person.homepage takes a URI"),
    ("Person", "settings={", "takes JSON other than null, nested at most 128 levels deep, and not {"),
    ("Person", "settings=null", "takes JSON other than null, nested at most 128 levels deep, and not null"),
    ("Person", "name:=5", "Person.name takes a string, and not 5"),
    ("Person", "name:={", "the value of name is not JSON: line 1, column 2"),
    ("Person", "nmae=Ann", "Person has no property \"nmae\". Did you mean \"name\"?"),
    ("Person", "address=Bonn", "is a composite: name one of its members, address.street, address.zip, address.city"),
    ("Person", "Ann", "\"Ann\" is neither name=value nor name:=JSON"),
    ("Person", "manager=!", "\"!\" is not the beginning of an id"),
    ("Project", "status=runing", "takes one of planned, running, done, and not runing. Did you mean \"running\"?"),
    ("Project", "weight=heavy", "Project.weight takes a number, and not heavy"),
    ("Project", "ticket=1", "Project.ticket takes a UUID"),
    ("Party", "name=x", "Party is abstract: name Client or Contractor or Person"),
  ])
  func invalidValueForTypeIsUsageErrorWithExpectedForm(entity: String, word: String, words: String) throws {
    let company = try CompanyDaemon()
    let result = try company.run("insert", entity, word)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("stickies: "))
    #expect(result.errors.contains(words), "\(result.errors)")
    #expect(try company.count("Party") == 0)
  }

  /// The levels of a line or of `--values` around a document do not count.
  @Test(arguments: [(128, Int32(0)), (129, 64)]) func documentsNestToTheirLimit(depth: Int, status: Int32) throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    let document = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let (hired, at) = ("hired=2020-01-01", "department=\(department)")
    let word = try company.run("insert", "Person", "name=Ann", hired, at, "settings:=\(document)")
    #expect(word.status == status, "\(word.errors)")
    let values = try company.run(
      "insert", "Person", "name=Bob", hired, at, "--values", "{\"settings\": \(document)}")
    #expect(values.status == status, "\(values.errors)")
    let line = """
      {"name": "Cid", "hired": "2020-01-01", "department": "\(department)", "settings": \(document)}
      """
    let lines = try company.run("insert", "Person", "-", input: line)
    #expect((lines.status == 0) == (status == 0), "\(lines.errors)")
    let printed = try company.run("fetch", "Person", "--json").output
    #expect(printed.components(separatedBy: document).count == (status == 0 ? 4 : 1), "\(printed)")
  }

  @Test func wordThatIsNotAnIDGetsAdvice() throws {
    let company = try CompanyDaemon()
    let entity = try company.run("update", "Person", "vacationDays=1")
    #expect(entity.status == 64)
    #expect(
      entity.errors.hasSuffix("is not the beginning of an id: Person is an entity; --where selects its objects\n"))
    let number = try company.run("show", "4")
    #expect(number.errors.hasSuffix("is not the beginning of an id; stickies graph fetch ENTITY prints ids\n"))
  }

  @Test func everyViolationReportsObjectPropertyAndValue() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let result = try company.run(
      "insert", "Person", "name=Ann", "department=\(engineering)", "vacationDays=61", "--json")
    #expect(result.status == 2)
    let refusal = try result.refusal()
    #expect(refusal["code"] == .string("invalid"))
    let violations = refusal["violations"]?.arrayValue ?? []
    let rules = Set(violations.map { "\($0["property"]?.stringValue ?? "") \($0["rule"]?.stringValue ?? "")" })
    #expect(rules == ["hired required", "vacationDays maximum"])
    let maximum = try #require(violations.first { $0["rule"] == .string("maximum") })
    #expect(maximum["value"] == .integer(61))
    #expect(maximum["entity"] == .string("Person"))
    #expect(maximum["object"] == .null)
    let text = try company.run("insert", "Person", "name=Ann", "department=\(engineering)", "vacationDays=61").errors
    #expect(text.contains("the new Person: Person.vacationDays is more than 60 (maximum, value 61)"))
    let taken = try company.run("insert", "Department", "code=ENG", "--json")
    #expect(taken.status == 2)
    #expect(try taken.refusal()["code"] == .string("unique"))
    #expect(try taken.refusal()["violations"]?[0]?["property"] == .string("code"))
    let same = try company.run("insert", "Department", "code=ENG", "--policy", "storeTrump", "--json").json()
    #expect(same["id"] == .string(engineering))
  }

  /// Under every policy but `error` an insert becomes the existing object with its key: the user learns which of the
  /// values count.
  @Test func insertWithExistingKeyReportsItsEffect() throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    func insert(_ name: String, _ policy: String) throws -> Daemon.Result {
      try company.run(
        "insert", "Person", "name=\(name)", "email=a@x.example", "hired=2020-01-01", "department=\(department)",
        "vacationDays=25", "--policy", policy)
    }
    #expect(try insert("Ann", "error").errors.isEmpty)
    let kept = try insert("Bob", "storeTrump")
    #expect(kept.status == 0 && kept.output.contains("Ann"), "\(kept.output)")
    #expect(kept.errors.hasPrefix("stickies: not changed: name of "), "\(kept.errors)")
    #expect(kept.errors.hasSuffix(", a Person that has this key already\n"))
    let won = try insert("Bob", "objectTrump")
    #expect(won.errors.hasPrefix("stickies: overwritten: name of ") && won.output.contains("Bob"), "\(won.errors)")
    #expect(try insert("Bob", "objectTrump").errors.isEmpty)
    #expect(company.daemon.stop() == 0)
  }

  @Test func deniedDeleteReportsReferrersAndCascadeReportsDeletes() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let ann = try company.person("Ann", in: engineering)
    let ben = try company.person("Ben", in: engineering, "manager=\(ann)")
    let denied = try company.run("delete", ann)
    #expect(denied.status == 2)
    #expect(denied.errors.contains("this Person can't be deleted while 1 of its reports remain"))
    #expect(denied.errors.contains("reports has Person \(ben.prefix(8)) Ben"))
    let refusal = try company.run("delete", ann, "--json").refusal()
    #expect(refusal["code"] == .string("denied"))
    #expect(refusal["violations"]?[0]?["rule"] == .string("deny"))
    #expect(refusal["violations"]?[0]?["object"] == .string(ann))
    #expect(refusal["violations"]?[0]?["property"] == .string("reports"))
    #expect(refusal["violations"]?[0]?["value"] == .string(ben))
    // The objects can be deleted together.
    let both = try company.run("delete", "Person", "--where", "TRUEPREDICATE", "--json").json()
    #expect(both["deleted"] == .integer(2))
    #expect(both["cascaded"] == .integer(0))
    #expect(both["revisions"]?.count == 1)
    let project = try company.insert("Project", "title=Launch", "department=\(engineering)")
    let commit = try company.run("delete", String(engineering.prefix(12)), "--json").json()
    let gone = commit["changes"]?.arrayValue?.map { $0["object"]?["id"] } ?? []
    #expect(Set(gone) == [.string(engineering), .string(project)])
    let again = try company.department("OPS")
    _ = try company.insert("Project", "title=Audit", "department=\(again)")
    let reported = try company.run("delete", again).lines
    #expect(reported.count == 2)
    #expect(reported.first?.hasPrefix("deleted Department \(again.prefix(8)) OPS") == true)
    #expect(reported.last?.hasPrefix("  with Project ") == true)
    #expect(try company.run("delete", again).status == 4)
  }

  @Test func updateReportsConflictsWithAuthors() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let ann = try company.person("Ann", in: engineering)
    let ben = try company.person("Ben", in: engineering)
    let project = try company.insert("Project", "title=Launch", "plan=One", "department=\(engineering)")
    let read = try company.run("show", ann, "--json").json()["revision"]?.integerValue ?? 0
    let changed = try company.run("update", ann, "vacationDays=30", "manager=\(ben.prefix(12))", "--json").json()
    #expect(changed["vacationDays"] == .integer(30))
    #expect(changed["manager"] == .string(ben))
    #expect(try company.run("update", ann, "manager=", "--json").json()["manager"] == .null)
    try company.run("update", project, "--add", "members=\(ann),\(ben)")
    let left = try company.run("update", ann, "--remove", "projects=\(project)", "--json").json()
    #expect(left["projects"] == .array([]))
    #expect(try company.run("show", project, "--json").json()["members"] == .array([.string(ben)]))
    #expect(try company.run("update", project, "plan=One and two", "--json").json()["plan"] == .string("One and two"))
    let conflict = try company.run(
      "update", ann, "vacationDays=31", "--base", "\(read)", "--policy", "error", "--json", author: "zoe@test")
    #expect(conflict.status == 2)
    let refusal = try conflict.refusal()
    #expect(refusal["code"] == .string("conflict"))
    #expect(refusal["conflicts"]?[0]?["property"] == .string("vacationDays"))
    #expect(refusal["conflicts"]?[0]?["mine"] == .integer(31))
    #expect(refusal["conflicts"]?[0]?["theirs"] == .integer(30))
    #expect(refusal["conflicts"]?[0]?["author"] == .string("ann@test"))
    let lost = try company.run("update", ann, "vacationDays=31", "--base", "\(read)", "--policy", "storeTrump")
    #expect(lost.status == 0)
    #expect(lost.errors.contains("vacationDays of \(ann.prefix(8)), because ann@test changed it in revision"))
    #expect(try company.run("update", ann, "vacationdays=1").errors.contains("Did you mean \"vacationDays\"?"))
    #expect(try company.run("update", ann).status == 64)
  }

  @Test func updateOfAllMatchesRunsInBatches() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    for name in ["Ann", "Ben", "Cleo"] { _ = try company.person(name, in: engineering) }
    let other = try company.person("Dan", in: engineering, "vacationDays=10")
    let result = try company.run(
      "update", "Person", "--where", "vacationDays == 25", "vacationDays=26", "--batch", "2")
    #expect(result.output == "updated 3 Person objects in 2 commits\n")
    #expect(try company.count("Person", where: "vacationDays == 26") == 3)
    #expect(try company.run("show", other, "--json").json()["vacationDays"] == .integer(10))
    // An object that has the value already is not changed, and not reported as changed.
    let again = try company.run(
      "update", "Person", "--where", "vacationDays == 26 OR name == \"Dan\"", "vacationDays=26")
    #expect(again.output == "updated 1 of 4 Person objects in 1 commit; the rest are unchanged\n")
    #expect(try company.run("update", other, "vacationDays=10").status == 0)
    let same = try company.run("update", "Person", "--where", "vacationDays == 26", "vacationDays=26", "--json").json()
    #expect(same["matched"] == .integer(3) && same["updated"] == .integer(0))
    let none = try company.run("update", "Person", "--where", "vacationDays == 1", "remote=true", "--json").json()
    #expect(none["matched"] == .integer(0))
    let refused = try company.run(
      "update", "Person", "--where", "vacationDays == 26", "vacationDays=61", "--batch", "1", "--json")
    #expect(refused.status == 2)
    #expect(try refused.refusal()["violations"]?[0]?["property"] == .string("vacationDays"))
  }

  @Test func watchReportsChangesOfOthers() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let watcher = try Watcher(
      company.daemon, command: ["graph", "watch", "Person"], "--where", "vacationDays > 20")
    #expect(try watcher.next()["snapshot"]?.count == 0)
    let ann = try company.person("Ann", in: engineering)
    let made = try watcher.next()
    #expect(made["changes"]?[0]?["kind"] == .string("inserted"))
    #expect(made["changes"]?[0]?["object"]?["name"] == .string("Ann"))
    try company.run("update", ann, "name=Anne", author: "ben@test")
    let renamed = try watcher.next()
    #expect(renamed["author"] == .string("ben@test"))
    #expect(renamed["changes"]?[0]?["changed"] == .array([.string("name")]))
    try company.run("update", ann, "vacationDays=20")
    #expect(try watcher.next()["changes"]?[0]?["deleted"] == nil)
    try company.run("update", ann, "vacationDays=21")
    #expect(try watcher.next()["changes"]?[0]?["kind"] == .string("inserted"))
    try company.run("delete", ann)
    #expect(try watcher.next()["changes"]?[0]?["deleted"] == .bool(true))
  }

  @Test func watchOfWindowReportsRowsAndTotal() throws {
    let company = try CompanyDaemon()
    let engineering = try company.department()
    let ann = try company.person("Ann", in: engineering)
    for name in ["Cid", "Dora"] { _ = try company.person(name, in: engineering) }
    let watcher = try Watcher(
      company.daemon, command: ["graph", "watch", "Person"], "--sort", "name", "--limit", "2", "--offset", "1")
    let first = try watcher.next()
    #expect(first["total"] == .integer(3))
    #expect(first["snapshot"]?[0]?["name"] == .string("Cid") && first["snapshot"]?[1]?["name"] == .string("Dora"))
    // Ben comes before the window's rows, behind Ann: he slides in, the last row out.
    _ = try company.person("Ben", in: engineering)
    let made = try watcher.next()
    #expect(made["total"] == .integer(4))
    #expect(made["changes"]?[0]?["kind"] == .string("removed") && made["changes"]?[0]?["deleted"] == nil)
    #expect(made["changes"]?[0]?["object"]?["name"] == .string("Dora"))
    #expect(made["changes"]?[1]?["kind"] == .string("inserted") && made["changes"]?[1]?["place"] == .integer(0))
    #expect(made["changes"]?[1]?["object"]?["name"] == .string("Ben"))
    // Ann goes to the end: Ben slides out at the front, Dora in at the back.
    try company.run("update", ann, "name=Zoe")
    let moved = try watcher.next()
    #expect(moved["total"] == nil && moved["changes"]?.count == 2)
    #expect(moved["changes"]?[0]?["object"]?["name"] == .string("Ben"))
    #expect(moved["changes"]?[1]?["object"]?["name"] == .string("Dora"))
    #expect(moved["changes"]?[1]?["place"] == .integer(1))
  }

  @Test func ambiguousIDListsCandidates() throws {
    let company = try CompanyDaemon()
    // Ids begin with one of sixteen letters.
    let lines = (0..<17).map { #"{"code":"D\#($0)"}"# }.joined(separator: "\n")
    let made = try company.run("insert", "Department", "-", "--json", input: lines)
    let ids = try made.lines.map { try JSON(parsing: $0)["id"]?.stringValue ?? "" }
    let letters = Dictionary(grouping: ids, by: { String($0.prefix(1)) })
    let (letter, same) = try #require(letters.first { $0.value.count > 1 })
    let result = try company.run("show", letter, "--json")
    #expect(result.status == 2)
    let refusal = try result.refusal()
    #expect(refusal["code"] == .string("ambiguous"))
    let candidates = refusal["candidates"]?.arrayValue ?? []
    #expect(Set(candidates.compactMap { $0["id"]?.stringValue }) == Set(same))
    #expect(candidates.allSatisfy { $0["entity"] == .string("Department") })
    #expect(try company.run("show", letter).errors.contains(same[0]))
  }

  @Test func exitCodesMatchOutcomes() throws {
    let company = try CompanyDaemon()
    #expect(try company.run("show", "aaaaaaaaaa").status == 4)
    #expect(try company.run("show", "!!").status == 64)
    #expect(try company.run("show", "a", "b", "c").status == 64)
    #expect(try company.run("fetch", "Person", "--where", "age == 1").status == 64)
    #expect(try company.run("fetch", "Person", "--sort", "age").errors.hasPrefix("stickies: --sort can't be read"))
    #expect(try company.run("fetch", "Person", "--properties", "name,salry").errors.contains("\"salary\""))
    #expect(
      try company.run("fetch", "Person", "--limit", "-1").errors.hasPrefix("stickies: --limit must be at least 1"))
    #expect(try company.run("fetch", "Person", "--offset", "-1").status == 64)
    #expect(try company.run("update", "Person", "--where", "name == \"x\"").status == 64)
    #expect(try company.run("insert", "Person", "-", "name=x").status == 64)
    #expect(try company.run("fech", "Person").errors.contains("Did you mean \"graph fetch\"?"))
    let notes = try company.daemon.run("list", "--json")
    #expect(notes.status == 2)
    #expect(try notes.refusal()["code"] == .string("notAllowed"))
    #expect(company.daemon.stop() == 0)
    #expect(try company.run("entities").status == 69)
  }

  @Test func genericCommandsWorkWithNotesModel() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "Hello")
    #expect(try daemon.run("graph", "fetch", "Note", "--json").json()[0]?["text"] == .string("Hello"))
  }

  @Test func modelThatDiffersFromWelcomeIsRefused() throws {
    let model = try Model(parsing: try CompanyDaemon.source().utf8)
    let other = try Fixtures.company()
    func result(_ welcome: Model, source: String, hash: ModelHash) throws -> Daemon.Result {
      let head = Token(store: UniqueID(high: 1, low: 1), revision: 0, fingerprint: 0)
      let hello = Welcome(
        model: welcome, head: head, session: 1, server: "scripted", resumed: false, maximumFrameSize: 1 << 20,
        heartbeatMilliseconds: 15_000, principal: "ann", role: .editor)
      let server = try ScriptedServer([ToClient(1, .welcome(hello)), ToClient(2, .model(source: source, hash: hash))])
      return try Daemon.run(
        ["graph", "entities", "--json"], server: server.address.description, author: "a", input: nil)
    }
    #expect(try result(model, source: model.source, hash: model.hash).json()["name"] == .string("Company"))
    let different = try result(other, source: model.source, hash: model.hash)
    #expect(different.status == 2)
    #expect(try different.refusal()["message"]?.stringValue?.contains("but its file has \(model.hash)") == true)
    let unreadable = try result(model, source: #"{"format": 2}"#, hash: model.hash)
    #expect(unreadable.status == 2)
    #expect(try unreadable.refusal()["message"]?.stringValue?.contains("format: is 2") == true)
  }
}
