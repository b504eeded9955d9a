import Foundation
import GraphModel
import GraphReplica
import Testing

/// Predicates that the compiler checks equal those in text form, over the classes that the plugin generates from
/// Schema/Company. TypedCompileErrorTests.swift has those that do not compile.
@Suite struct TypedPredicateTests {
  private let model = CompanyModel.model

  /// Both forms give the same predicate, and its text is parsed as that predicate.
  private func expectSame<Object: ManagedObject>(
    _ type: Object.Type, _ text: String, place: SourceLocation = #_sourceLocation,
    _ typed: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate
  ) throws {
    let entity = try #require(model.entity(named: type.entityName), sourceLocation: place)
    let predicate = GraphPredicate(type, where: typed)
    let parsed = try GraphPredicate(parsing: text, entity: entity, model: model)
    #expect(predicate == parsed, "\(text)\n\(predicate.text(in: model))", sourceLocation: place)
    let again = try GraphPredicate(parsing: predicate.text(in: model), entity: entity, model: model)
    #expect(again == predicate, "\(predicate.text(in: model))", sourceLocation: place)
  }

  @Test func valuesOfEveryTypeCompare() throws {
    let ticket = UniqueID(high: 1, low: 2)
    let march = try #require(RFC3339.timestamp("2026-03-01"))
    try expectSame(Person.self, #"name == "Ann""#) { $0.name == "Ann" }
    try expectSame(Person.self, "vacationDays != 25") { $0.vacationDays != 25 }
    try expectSame(Person.self, "remote == TRUE") { $0.remote == true }
    try expectSame(Person.self, "remote == TRUE") { $0.remote.isTrue }
    try expectSame(Person.self, "salary >= 1000") { $0.salary >= 1000 }
    try expectSame(Person.self, #"hired < "2026-03-01""#) { $0.hired < march }
    try expectSame(Person.self, #"settings CONTAINS "dark""#) { $0.settings.contains("dark") }
    try expectSame(Person.self, #"photo == "AQI=""#) { $0.photo == [1, 2] }
    try expectSame(Person.self, #"homepage == "https://a.example""#) { $0.homepage == "https://a.example" }
    try expectSame(Project.self, "weight <= 2.5") { $0.weight <= 2.5 }
    try expectSame(Project.self, #"status == "running""#) { $0.status == .running }
    try expectSame(Project.self, #"ticket == "00000000-0000-0001-0000-000000000002""#) { $0.ticket == ticket }
    try expectSame(Contractor.self, #"name == "Bob" AND dayRate > 640"#) { $0.name == "Bob" && $0.dayRate > 640 }
  }

  @Test func conditionsCombine() throws {
    try expectSame(Person.self, #"name == "A" AND remote == TRUE AND number > 3"#) {
      $0.name == "A" && $0.remote == true && $0.number > 3
    }
    try expectSame(Person.self, #"name == "A" OR name == "B" OR NOT name == "C""#) {
      $0.name == "A" || $0.name == "B" || !($0.name == "C")
    }
    try expectSame(Person.self, #"remote == TRUE AND (name == "A" OR name == "B")"#) {
      $0.remote == true && ($0.name == "A" || $0.name == "B")
    }
    try expectSame(Person.self, "TRUEPREDICATE") { _ in .always }
    try expectSame(Person.self, "FALSEPREDICATE") { _ in .never }
  }

  /// `where: { !$0.pinned }` is what a Swift programmer writes.
  @Test func attributeThatIsTrueOrFalseIsCondition() throws {
    try expectSame(Person.self, "remote == FALSE") { !$0.remote }
    try expectSame(Person.self, "NOT manager.remote == TRUE") { !$0.manager.remote }
    try expectSame(Person.self, "remote == TRUE AND number > 3") { $0.remote && $0.number > 3 }
    try expectSame(Person.self, "number > 3 AND remote == TRUE") { $0.number > 3 && $0.remote }
    try expectSame(Person.self, "remote == TRUE AND manager.remote == TRUE AND number > 3") {
      $0.remote && $0.manager.remote && $0.number > 3
    }
    try expectSame(Person.self, "remote == TRUE OR number > 3") { $0.remote || $0.number > 3 }
    try expectSame(Person.self, "number > 3 OR remote == TRUE") { $0.number > 3 || $0.remote }
    try expectSame(Person.self, "remote == TRUE OR manager.remote == TRUE") { $0.remote || $0.manager.remote }
    try expectSame(Person.self, "NOT (remote == TRUE AND number > 3)") { !($0.remote && $0.number > 3) }
    try expectSame(Project.self, "ANY members.remote == TRUE AND NOT ANY members.remote == TRUE") {
      $0.members.any.remote && !$0.members.any.remote
    }
    try expectSame(Project.self, "SUBQUERY(members, $x, $x.remote == TRUE).@count > 0") {
      $0.members.contains { $0.remote }
    }
    try expectSame(Project.self, "SUBQUERY(members, $x, $x.remote == FALSE).@count == 2") {
      $0.members.count { !$0.remote } == 2
    }
    try expectSame(Project.self, "SUBQUERY(members, $x, $x.remote == TRUE).@count == 2") {
      $0.members.count { $0.remote } == 2
    }
  }

  @Test func setsAndRangesHold() throws {
    try expectSame(Project.self, #"status IN {"running", "done"}"#) { $0.status.isIn([.running, .done]) }
    try expectSame(Person.self, "vacationDays IN {}") { $0.vacationDays.isIn([]) }
    try expectSame(Person.self, "vacationDays BETWEEN {20, 30}") { $0.vacationDays.isBetween(20, 30) }
    try expectSame(Person.self, "vacationDays BETWEEN {number - 1, number + 1}") {
      $0.vacationDays.isBetween($0.number - 1, $0.number + 1)
    }
  }

  @Test func listMayContainEveryType() throws {
    let days = try ["2026-03-01", "2026-03-02"].map { try #require(RFC3339.timestamp($0)) }
    let half = try #require(DecimalValue("1000.5"))
    let ticket = UniqueID(high: 1, low: 2)
    try expectSame(Person.self, #"name IN {"Ann", "Ben"}"#) { $0.name.isIn(["Ann", "Ben"]) }
    try expectSame(Person.self, "remote IN {TRUE}") { $0.remote.isIn([true]) }
    try expectSame(Person.self, "vacationDays IN {20, 30}") { $0.vacationDays.isIn([20, 30]) }
    try expectSame(Person.self, "salary IN {1000, 1000.5}") { $0.salary.isIn([1000, half]) }
    try expectSame(Person.self, #"hired IN {"2026-03-01", "2026-03-02"}"#) { $0.hired.isIn(days) }
    try expectSame(Person.self, #"settings IN {"{}"}"#) { $0.settings.isIn(["{}"]) }
    try expectSame(Person.self, #"photo IN {"AQI="}"#) { $0.photo.isIn([[1, 2]]) }
    try expectSame(Person.self, #"homepage IN {"https://a.example"}"#) { $0.homepage.isIn(["https://a.example"]) }
    try expectSame(Project.self, "weight IN {0.5, 2}") { $0.weight.isIn([0.5, 2]) }
    try expectSame(Project.self, #"ticket IN {"00000000-0000-0001-0000-000000000002"}"#) { $0.ticket.isIn([ticket]) }
    try expectSame(Project.self, #"ANY members.name IN {"Ann"}"#) { $0.members.any.name.isIn(["Ann"]) }
  }

  /// A range of integers or dates becomes a comparison with its two ends, not a list of values.
  @Test func rangeEqualsItsTwoBounds() throws {
    let (march, april) = (RFC3339.timestamp("2026-03-01") ?? 0, RFC3339.timestamp("2026-04-01") ?? 0)
    try #require(march < april)
    try expectSame(Person.self, "vacationDays BETWEEN {20, 30}") { $0.vacationDays.isIn(20...30) }
    try expectSame(Person.self, "vacationDays BETWEEN {0, 9223372036854775807}") { $0.vacationDays.isIn(0 ... .max) }
    try expectSame(Person.self, "salary BETWEEN {1000, 2000}") { $0.salary.isIn(1000...2000) }
    try expectSame(Person.self, #"hired BETWEEN {"2026-03-01", "2026-04-01"}"#) { $0.hired.isIn(march...april) }
    try expectSame(Person.self, #"name BETWEEN {"A", "N"}"#) { $0.name.isIn("A"..."N") }
    try expectSame(Project.self, "weight BETWEEN {0.5, 2}") { $0.weight.isIn(0.5...2) }
    try expectSame(Project.self, "weight BETWEEN {0.5, 2}") { $0.weight.isBetween(0.5, 2) }
    try expectSame(Project.self, "updated - opened BETWEEN {hours(0.5), days(2)}") {
      ($0.updated - $0.opened).isIn(TimeSpan.hours(0.5)...TimeSpan.days(2))
    }
  }

  /// Constants have the types of the classes' properties.
  @Test func constantsMayBeOfFoundation() throws {
    let (march, april) = (
      Date(microseconds: RFC3339.timestamp("2026-03-01") ?? 0), Date(microseconds: RFC3339.timestamp("2026-04-01") ?? 0)
    )
    let (few, many): (Int, Int) = (20, 30)
    let ticket = UUID(UniqueID(high: 1, low: 2))
    let pay = try #require(Decimal(string: "1000.5"))
    try expectSame(Person.self, "vacationDays == 20") { $0.vacationDays == few }
    try expectSame(Person.self, "vacationDays != 20") { $0.vacationDays != few }
    try expectSame(Person.self, "vacationDays < 20") { $0.vacationDays < few }
    try expectSame(Person.self, "vacationDays <= 20") { $0.vacationDays <= few }
    try expectSame(Person.self, "vacationDays > 20") { $0.vacationDays > few }
    try expectSame(Person.self, "vacationDays >= 20") { $0.vacationDays >= few }
    try expectSame(Person.self, "vacationDays IN {20, 30}") { $0.vacationDays.isIn([few, many]) }
    try expectSame(Person.self, "vacationDays BETWEEN {20, 30}") { $0.vacationDays.isIn(few...many) }
    try expectSame(Person.self, #"hired >= "2026-03-01""#) { $0.hired >= march }
    try expectSame(Person.self, #"hired BETWEEN {"2026-03-01", "2026-04-01"}"#) { $0.hired.isBetween(march, april) }
    try expectSame(Person.self, "salary > 1000.5") { $0.salary > pay }
    try expectSame(Person.self, #"photo == "AQI=""#) { $0.photo == Data([1, 2] as [UInt8]) }
    let link = try #require(URL(string: "https://a.example"))
    try expectSame(Person.self, #"homepage == "https://a.example""#) { $0.homepage == link }
    try expectSame(Project.self, #"ticket == "00000000-0000-0001-0000-000000000002""#) { $0.ticket == ticket }
  }

  @Test func attributesAreOfFoundation() throws {
    let context = ObjectContext(
      model: model, replica: Replica(id: .zero, author: "", program: "", model: model.hash),
      classes: CompanyModel.classes)
    let (person, project) = (Person(in: context), Project(in: context))
    let march = try Date("2026-03-01T00:00:00Z", strategy: .iso8601)
    let ticket = UUID()
    (person.hired, person.salary, person.vacationDays) = (march, 1_000.5, 12)
    (person.photo, person.homepage) = (Data([1, 2] as [UInt8]), URL(string: "https://a.example"))
    (project.ticket, project.due) = (ticket, march)
    let (hired, salary) = (try #require(RFC3339.timestamp("2026-03-01")), try #require(DecimalValue("1000.5")))
    #expect(person["hired"] == .date(hired) && person["salary"] == .decimal(salary))
    #expect(person["vacationDays"] == .integer(12) && person["photo"] == .data([1, 2]))
    #expect(person["homepage"] == .string("https://a.example"))
    #expect(person.hired == march && person.salary == 1_000.5 && person.vacationDays == 12)
    #expect(project.ticket == ticket && project.due == march && project.starts == nil)
    person.address = Address(street: "Main Street", zip: "12345", city: "Springfield")
    #expect(person["address.zip"] == .string("12345") && person.address?.city == "Springfield")
    person.address = nil
    #expect(person["address.zip"] == .null)
  }

  @Test func textOperatorsMatchParsedPredicates() throws {
    let folded: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    let pattern = try RegularExpression(parsing: "z.e!", options: folded)
    try expectSame(Person.self, #"name BEGINSWITH "A""#) { $0.name.hasPrefix("A") }
    try expectSame(Person.self, #"name ENDSWITH[c] "n""#) { $0.name.hasSuffix("n", .caseInsensitive) }
    try expectSame(Person.self, #"name CONTAINS[cd] "ö""#) { $0.name.contains("ö", folded) }
    try expectSame(Person.self, #"name ==[cd] "zoe""#) { $0.name.isEqual(to: "zoe", folded) }
    try expectSame(Person.self, #"name LIKE[c] "a*n?""#) { $0.name.isLike("a*n?", .caseInsensitive) }
    try expectSame(Person.self, #"name MATCHES[cd] "z.e!""#) { $0.name.matches(pattern) }
    try expectSame(Person.self, #"name SEARCH "ann le""#) { $0.name.search("ann le") }
    try expectSame(Person.self, "email CONTAINS name") { $0.email.contains($0.name) }
    try expectSame(Person.self, "email BEGINSWITH[c] name AND email ENDSWITH manager.name") {
      $0.email.hasPrefix($0.name, .caseInsensitive) && $0.email.hasSuffix($0.manager.name)
    }
    try expectSame(Person.self, #"name IN[cd] {"zoe", "ann"}"#) { $0.name.isIn(["zoe", "ann"], folded) }
  }

  @Test func nilComparesOnlyWithOptionalProperties() throws {
    try expectSame(Person.self, "email == NULL") { $0.email == nil }
    try expectSame(Person.self, "manager != NULL") { $0.manager != nil }
    try expectSame(Person.self, "manager.name == NULL") { $0.manager.name == nil }
    try expectSame(Person.self, "vacationDays / number == NULL") { $0.vacationDays / $0.number == nil }
    try expectSame(Person.self, #"ifNull(email, "none") == "none""#) { $0.email.ifNull("none") == "none" }
  }

  @Test func pathsFollowRelationshipsAndComposites() throws {
    try expectSame(Person.self, #"manager.manager.department.code == "ENG""#) {
      $0.manager.manager.department.code == "ENG"
    }
    try expectSame(Person.self, "manager.department == department") { $0.manager.department == $0.department }
    try expectSame(Person.self, "name == manager.name") { $0.name == $0.manager.name }
    try expectSame(Person.self, #"address.city == "Ulm" AND address.zip == NULL"#) {
      $0.address.city == "Ulm" && $0.address.zip == nil
    }
    try expectSame(Project.self, #"client.address.street ENDSWITH "1""#) { $0.client.address.street.hasSuffix("1") }
    try expectSame(Department.self, "headcount > 50") { $0.headcount > 50 }
  }

  @Test func toManysAreQuantifiedCountedAndAggregated() throws {
    try expectSame(Project.self, #"ANY members.name == "Ann""#) { $0.members.any.name == "Ann" }
    try expectSame(Project.self, "ALL members.vacationDays > 3") { $0.members.all.vacationDays > 3 }
    try expectSame(Project.self, #"NONE members.reports.name BEGINSWITH "A""#) {
      $0.members.none.reports.each.name.hasPrefix("A")
    }
    try expectSame(Person.self, "ANY projects.client.name == NULL") { $0.projects.any.client.name == nil }
    try expectSame(Project.self, "members.@count > 3") { $0.members.count > 3 }
    try expectSame(Project.self, "members.@count == 0") { $0.members.isEmpty }
    try expectSame(Person.self, "manager.reports.@count > 3") { $0.manager.reports.count > 3 }
    try expectSame(Person.self, "reports.@sum.salary > 1000") { $0.reports.sum(\.salary) > 1000 }
    try expectSame(Person.self, "reports.@avg.vacationDays > 20.5") { $0.reports.average(\.vacationDays) > 20.5 }
    try expectSame(Person.self, "reports.@max.hired > hired") { $0.reports.max(\.hired) > $0.hired }
    try expectSame(Person.self, #"reports.@min.name == "A""#) { $0.reports.min { $0.name } == "A" }
  }

  @Test func numbersAndTextsAreCalculated() throws {
    try expectSame(Person.self, "vacationDays * 2 + 1 == 51") { $0.vacationDays * 2 + 1 == 51 }
    try expectSame(Person.self, "vacationDays * (number - 1) == 48") { $0.vacationDays * ($0.number - 1) == 48 }
    try expectSame(Person.self, "0 - vacationDays < 0") { 0 - $0.vacationDays < 0 }
    try expectSame(Person.self, "salary / 4 > vacationDays") { $0.salary / 4 > $0.vacationDays.asDecimal }
    try expectSame(Person.self, "abs(0 - number) == 7") { (0 - $0.number).absolute == 7 }
    try expectSame(Person.self, "modulus(number, 4) == 3") { $0.number % 4 == 3 }
    try expectSame(Project.self, "sqrt(weight) < 2 AND round(weight) == 1 AND power(weight, 2) == 4") {
      $0.weight.squareRoot < 2 && $0.weight.rounded == 1 && $0.weight.power(2) == 4
    }
    try expectSame(Project.self, "integer(trunc(weight)) == 2") { $0.weight.truncated.asInteger == 2 }
    try expectSame(Person.self, #"lowercase(trimmed(name)) == "ann" AND length(name) == 3"#) {
      $0.name.trimmed.lowercased == "ann" && $0.name.length == 3
    }
    try expectSame(Person.self, #"concat(name, "!") == concat(manager.name, "!")"#) {
      $0.name + "!" == $0.manager.name + "!"
    }
    try expectSame(Person.self, #"string(number) == "7""#) { $0.number.asText == "7" }
    try expectSame(Person.self, #"string(remote) == "true" AND string(hired) BEGINSWITH "2026""#) {
      $0.remote.asText == "true" && $0.hired.asText.hasPrefix("2026")
    }
    try expectSame(Person.self, "date(name) > now()") { $0.name.asDate > .now }
    try expectSame(Person.self, #"uuid(email) == uuid(name) AND data(name) != NULL"#) {
      $0.email.asUniqueID == $0.name.asUniqueID && $0.name.asData != nil
    }
    try expectSame(Person.self, #"ifNull(email, name) == given(manager.name, name)"#) {
      $0.email.ifNull($0.name) == $0.manager.name.given($0.name)
    }
    try expectSame(Person.self, "vacationDays IN {number + 1, number - 1}") {
      $0.vacationDays.isIn($0.number + 1, $0.number - 1)
    }
  }

  @Test func datesAreRelativeToNow() throws {
    try expectSame(Person.self, "hired > now() - days(7)") { $0.hired > .ago(.days(7)) }
    try expectSame(Person.self, "hired > now() - days(7)") { $0.hired > .now - .days(7) }
    try expectSame(Person.self, "hired BETWEEN {now() - weeks(1), now()}") { $0.hired.isBetween(.ago(.weeks(1)), .now) }
    try expectSame(Project.self, "due < now()") { $0.due < .now }
    try expectSame(Project.self, "updated - opened > days(2)") { $0.updated - $0.opened > .days(2) }
    try expectSame(Person.self, "hired + days(vacationDays) > now()") { $0.hired + $0.vacationDays.days > .now }
    try expectSame(Person.self, "hired > now() - days(1.5)") { $0.hired > .ago(.days(1.5)) }
    try expectSame(Project.self, "opened + hours(weight) > updated") { $0.opened + $0.weight.hours > $0.updated }
    for (span, unit) in [
      (TimeSpan.seconds(0.5), 1_000_000), (.minutes(0.5), 60_000_000), (.hours(0.5), 3_600_000_000),
      (.days(0.5), 86_400_000_000), (.weeks(0.5), 604_800_000_000),
    ] { #expect(span.microseconds * 2 == unit) }
    #expect(TimeSpan.days(-1e300).microseconds == .min && TimeSpan.days(1e300).microseconds == .max)
    try expectSame(Person.self, "year(hired) == 2026 AND weekday(hired) == 7") {
      $0.hired.year == 2026 && $0.hired.weekday == 7
    }
  }

  @Test func subqueriesSeeTheObjectsAroundThem() throws {
    try expectSame(Project.self, #"SUBQUERY(members, $x, $x.name == "Ann" AND $x.remote == TRUE).@count > 0"#) {
      $0.members.contains { $0.name == "Ann" && $0.remote == true }
    }
    try expectSame(Project.self, "SUBQUERY(department.staff, $x, $x.hired > SELF.opened).@count == 2") { project in
      project.department.staff.count { $0.hired > project.opened } == 2
    }
    try expectSame(
      Department.self,
      "SUBQUERY(staff, $p, SUBQUERY(SELF.projects, $q, $q.title == $p.name AND $q.weight > 2).@count > 1).@count > 1"
    ) { department in
      department.staff.count { person in
        department.projects.count { $0.title == person.name && $0.weight > 2 } > 1
      } > 1
    }
    try expectSame(
      Department.self, "SUBQUERY(staff, $p, SUBQUERY($p.projects, $q, $q.title == $p.name).@count > 1).@count > 1"
    ) { department in
      department.staff.count { person in person.projects.count { $0.title == person.name } > 1 } > 1
    }
  }

  @Test func objectsAreComparedByTheirIdentity() throws {
    let context = ObjectContext(
      model: model, replica: Replica(id: .zero, author: "", program: "", model: model.hash),
      classes: CompanyModel.classes)
    let entity = try #require(model.entity(named: "Person"))
    let id = ObjectID(key: UniqueID(high: 7, low: 9), entity: entity.number)
    let image = ObjectImage(id: id, revision: 1, values: entity.initialValues)
    let ann = try #require(context.register([image]).first as? Person)
    try expectSame(Person.self, "manager == \"\(id)\"") { $0.manager == ann }
    try expectSame(Person.self, "manager IN {\"\(id)\"}") { $0.manager.isIn([ann]) }
    try expectSame(Person.self, "id == \"\(id)\"") { $0.id == id }
    try expectSame(Project.self, "ANY members == \"\(id)\"") { $0.members.contains(ann) }
    try expectSame(Project.self, "ANY members.manager != \"\(id)\"") { $0.members.any.manager != ann }
  }

  // MARK: - Orders

  private func expectSame<Object: ManagedObject>(
    _ type: Object.Type, _ text: String, place: SourceLocation = #_sourceLocation,
    _ keys: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey]
  ) throws {
    let entity = try #require(model.entity(named: type.entityName), sourceLocation: place)
    #expect(
      [SortKey](type, keys) == (try [SortKey](parsing: text, entity: entity, model: model)), sourceLocation: place)
  }

  @Test func keysOfOrderCanBePathsWithoutDirection() throws {
    #expect(
      [SortKey](Person.self, by: [\.hired, \.name.descending, \.department.code.natural])
        == [SortKey](Person.self, [\.hired.ascending, \.name.descending, \.department.code.natural.ascending]))
  }

  @Test func ordersGoByPaths() throws {
    try expectSame(Person.self, "-hired,name", [\.hired.descending, \.name.ascending])
    try expectSame(
      Person.self, "department.code,manager.name[natural],-name[localized],address.city",
      [
        \.department.code.ascending, \.manager.name.natural.ascending, \.name.localized.descending,
        \.address.city.ascending,
      ])
    try expectSame(
      Person.self, "-reports.@count,reports.@sum.salary,id",
      [\.reports.count.descending, { $0.reports.sum(\.salary).ascending }, \.id.ascending])
  }

  // MARK: - Generated members

  @Test func requiredAttributeWithoutValueReadsAsDefault() throws {
    let context = ObjectContext(
      model: model, replica: Replica(id: .zero, author: "", program: "", model: model.hash),
      classes: CompanyModel.classes)
    let contractor = Contractor(in: context)
    for name in ["dayRate", "vacationDays", "settings"] { contractor[name] = .null }
    #expect(contractor.dayRate == 640)
    #expect(contractor.vacationDays == 25)
    #expect(contractor.settings == "{}")
    #expect(contractor.address == nil)
    #expect(contractor.name == "")
  }

  @Test(arguments: [0, 5, -10, 1_200, Int64.min, Int64.max])
  func integerLiteralsConvertToDecimals(number: Int64) {
    #expect(DecimalValue(integerLiteral: number) == DecimalValue("\(number)"))
  }

  @Test func fetchRequestsOfTheModelAreFunctions() throws {
    let march = Date(microseconds: try #require(RFC3339.timestamp("2026-03-01")))
    let request = try Project.overdue(now: march, client: "Acme \"& Sons\"").request(in: model)
    #expect(
      request.predicate
        == GraphPredicate(Project.self) {
          $0.status != .done && $0.due < march && $0.client.name == "Acme \"& Sons\""
        })
    #expect(request.sort == [SortKey](Project.self, [\.due.ascending, \.title.ascending]))
    #expect(request.limit == 100)
    // A project without a client exists, and a null is not less than a null.
    let ownRequest = try Project.overdue(now: march, client: nil).request(in: model)
    #expect(
      ownRequest.predicate
        == GraphPredicate(Project.self) { $0.status != .done && $0.due < march && $0.client.name == nil })
    #expect(throws: Refusal.self) { try NamedFetch<Person>("overdue").request(in: model) }
    #expect(throws: Refusal.self) { try NamedFetch<Project>("nobody").request(in: model) }
    #expect(throws: PredicateSyntaxError.self) {
      try NamedFetch<Project>("overdue", ["now": .value(.date(1), .date)]).request(in: model)
    }
  }
}
