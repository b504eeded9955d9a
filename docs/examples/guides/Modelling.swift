import Foundation
import GraphClient

@MainActor
func modelling(at server: ServerAddress) async throws {
  let client = try await CompanyModel.connect(to: server, author: "ann@example")
  let context = client.context
  let engineering = Department(in: context)
  let ann = Person(in: context)
  let bob = Contractor(in: context)
  let bridge = Project(in: context)

  engineering.code = "ENG"
  ann.name = "Ann"
  ann.hired = try Date("2020-03-01T00:00:00Z", strategy: .iso8601)
  ann.department = engineering
  bob.name = "Bob"
  bob.agency = "Lend & Co"
  bob.hired = try Date("2026-09-01T00:00:00Z", strategy: .iso8601)
  bob.department = engineering
  bob.manager = ann  // the inverse follows: Ann's reports include him
  bridge.title = "Bridge"
  bridge.department = engineering
  bridge.members.insert(ann)
  bridge.members.insert(bob)
  try await client.save()  // four objects, one transaction
  print("Ann is number \(ann.number) and leads \(ann.reports.map(\.name)); Bob costs \(bob.dayRate) a day")

  let crowded = try await client.fetch(
    Project.self, where: { $0.status == .planned && $0.department.code == "ENG" && $0.members.count > 1 },
    sort: [\.opened.descending, \.title.localized.ascending])
  print("planned: \(crowded.map(\.title))")

  // The error has all violations, and nothing was written.
  bob.vacationDays = 90
  bridge.title = ""
  await attempt()
  context.delete(ann)
  print("foreseen: \(context.forecast().violations.map(\.rule))")  // without a request
  await attempt()
  await client.close()

  func attempt() async {
    do {
      try await client.attempt { try await client.save() }
    } catch GraphError.invalid(let violations) {
      for violation in violations { print("refused:", violation.properties.joined(separator: ", "), violation.rule) }
      context.rollback()
    } catch GraphError.denied(by: let objects) {
      // At most 100 of them.
      print("refused: referring objects:", objects.count)
      context.rollback()
    } catch {
      print(error)
    }
  }
}
