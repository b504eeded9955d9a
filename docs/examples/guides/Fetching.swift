import Foundation
import GraphClient

@MainActor
func fetching(at server: ServerAddress) async throws {
  let client = try await CompanyModel.connect(to: server, author: "ann@example")
  var departments = [Department]()
  for code in ["ENG", "OPS"] {
    let department = Department(in: client.context)
    department.code = code
    departments.append(department)
  }
  for (number, name) in ["Ann", "Bob", "Cleo", "Dan", "Eve"].enumerated() {
    let person = Person(in: client.context)
    person.name = name
    person.hired = try Date("202\(number)-01-01T00:00:00Z", strategy: .iso8601)
    person.vacationDays = 25 + number
    person.remote = number > 1
    person.department = departments[number % 2]
  }
  try await client.save()

  // Objects, by the typed form, which the compiler checks, or by the text that the shell takes.
  let typed = try await client.fetch(
    Person.self, where: { $0.department.code == "ENG" && $0.vacationDays > 25 }, sort: [\.name.ascending], limit: 10)
  let parsed = try await client.fetch(
    Person.self, where: "department.code == \"ENG\" AND vacationDays > 25", sort: "name", limit: 10)
  print(typed.map(\.name), parsed.map(\.name))

  // These send no objects.
  let remote = try await client.count(of: Person.self, where: { $0.remote })
  let ids = try await client.identifiers(of: Person.self, where: "remote == TRUE", sort: "-name", limit: 2)
  print("\(remote) work elsewhere; two of them: \(ids.count) ids")

  // One object, and whether one exists.
  let newest = try await client.fetchOne(Person.self, sort: [\.hired.descending])
  let isRested = try await client.exists(Person.self, where: { $0.vacationDays > 40 })
  print("newest:", newest?.name ?? "", "more than 40 days:", isRested)

  // A page begins after the last object of the previous page, even if that object has changed since.
  for try await page in try client.pages(of: Person.self, sort: "-hired,name", size: 2) {
    print("page:", page.objects.map(\.name))
  }

  // The server calculates values of objects and of groups. The model gives each column its type.
  let rows = try await client.rows(of: Person.self, where: { $0.remote }, sort: [\.name.ascending]) {
    $0.name
    $0.department.code
    $0.vacationDays * 8
  }
  for (name, code, hours) in rows { print(name, code, hours ?? 0) }
  let groups = try await client.groups(of: Person.self, sort: [{ $0.id.count.descending }]) {
    $0.department.code
    $0.id.count
    $0.vacationDays.sum
  }
  for (code, people, days) in groups { print(code, people, days ?? 0) }

  // The same rows as structs, whose properties have the names of the columns.
  struct Leave: Decodable {
    var name: String
    var hours: Int
  }
  let leaves = try await client.fetch(
    Person.self, "name, vacationDays * 8 AS hours", as: Leave.self, where: { $0.remote }, sort: "-name")
  print(leaves.map { "\($0.name) \($0.hours)" })

  // A fetch request that the model declares; its variables are the parameters.
  let (bridge, acme) = (Project(in: client.context), Client(in: client.context))
  (bridge.title, bridge.department) = ("Bridge", departments[0])
  bridge.due = try Date("2026-05-01T00:00:00Z", strategy: .iso8601)
  (acme.name, bridge.client) = ("Acme", acme)
  try await client.save()
  let june = try Date("2026-06-01T00:00:00Z", strategy: .iso8601)
  let overdue = try await client.fetch(Project.overdue(now: june, client: "Acme"))
  let large = try await client.fetch(Department.largeDepartments())
  print("overdue:", overdue.map(\.title), "large:", large.map(\.code))

  // A predicate that can't be parsed is refused with the position of the error.
  do {
    _ = try await client.count(of: Person.self, where: "salary >> 3")
  } catch let mistake as PredicateSyntaxError {
    print(mistake.pointer)
  }
  await client.close()
}
