import Foundation
import GraphClient

@MainActor
func faulting(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await GraphClient.connect(
      to: server, model: CompanyModel.model, classes: CompanyModel.classes, options: .init(author: author))
  }
  let writer = try await connect("ann@example")
  for number in 1...3 {
    let department = Department(in: writer.context)
    let person = Person(in: writer.context)
    let project = Project(in: writer.context)
    department.code = "D\(number)"
    person.name = ["Ann", "Bob", "Cleo"][number - 1]
    person.hired = try Date("2026-01-0\(number)T00:00:00Z", strategy: .iso8601)
    person.department = department
    project.title = "Project \(number)"
    project.department = department
    project.members.insert(person)
  }
  try await writer.save()
  await writer.close()

  // Without a word about relationships, what they lead to is a fault: an id, and no values yet.
  let client = try await connect("bob@example")
  let people = try await client.fetch(Person.self, sort: [\.name.ascending])
  print("a fault:", people[0].department?.isFault ?? false)

  // Loading it for one loads it for all that came with the same fetch: this loop asks once.
  for person in people {
    let department = try await person.load(\.department)
    print(person.name, "works in", department?.code ?? "")
  }

  // Or say at once what will be needed: a request for each step.
  let projects = try await client.fetch(
    Project.self, sort: [\.title.ascending], prefetch: [\.department.staff, \.members])
  for project in projects {
    print(project.title, project.members.map(\.name), project.department?.staff.count ?? 0)
  }

  // A scratch pad: its edits are nobody else's, until they are saved into the context, or dropped.
  let sheet = client.context.makeChild()
  if let draft = sheet.object(for: projects[0]) {
    draft.title = "Draft"
    print("here \(draft.title), there \(projects[0].title)")
    sheet.save()
    print("there \(projects[0].title), unsaved: \(projects[0].hasChanges)")
  }
  await client.close()
}
