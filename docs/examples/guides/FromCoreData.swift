import Foundation
import GraphClient

/// The import in the background and the handling of errors that docs/guides/from-core-data.md, from-swiftdata.md,
/// from-grdb.md and background-contexts.md show.
@MainActor
func fromCoreData(at server: ServerAddress) async throws {
  struct Row: Sendable {
    let name: String
    let hired: Date
  }

  let client = try await CompanyModel.connect(to: server, author: "ann@example")
  let department = Department(in: client.context)
  department.code = "ENG"
  try await client.save()
  let hired = try Date("2026-01-01T00:00:00Z", strategy: .iso8601)
  let rows = ["Ann", "Bob", "Cleo"].map { Row(name: $0, hired: hired) }

  let background = try await client.makeBackgroundContext()
  try await background.perform { client in
    let engineering = try await client.fetchOne(Department.self, where: { $0.code == "ENG" })
    for row in rows {
      let person = Person(in: client.context)
      person.name = row.name
      person.hired = row.hired
      person.department = engineering
    }
    try await client.save()
  }
  await background.close()

  print(try await client.count(of: Person.self, where: { $0.department.code == "ENG" }), "people in ENG")
  guard let cleo = try await client.fetchOne(Person.self, where: { $0.name == "Cleo" }) else {
    return print("there is no Cleo")
  }
  cleo.vacationDays = 90
  try await save()
  let bob = try await CompanyModel.connect(to: server, author: "bob@example")
  let his = try await bob.fetchOne(Person.self, where: { $0.name == "Cleo" })
  his?.name = "Clea"
  try await bob.save()
  await bob.close()
  cleo.name = "Cleopatra"
  try await save()
  await client.close()

  func save() async throws {
    do {
      try await client.attempt { try await client.save() }
    } catch GraphError.invalid(let violations) {
      for violation in violations { print("invalid:", violation.properties, violation.rule) }
      client.context.rollback()
    } catch GraphError.conflict(let values, let authors) {
      for value in values { print("changed by \(authors):", value.property ?? value.entity, value.theirs.text) }
      client.context.rollback()
    }
  }
}
