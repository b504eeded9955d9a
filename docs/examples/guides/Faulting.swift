import Foundation
import GraphClient

@MainActor
func faulting(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await CompanyModel.connect(to: server, author: author)
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

  // A fetch that names no relationships returns their targets as faults: an id, and no values yet.
  let client = try await connect("bob@example")
  let people = try await client.fetch(Person.self, sort: [\.name.ascending])
  print("a fault:", people[0].department?.isFault ?? false)

  // To load it for one object loads it for all objects of the same fetch: this loop sends one request.
  for person in people {
    let department = try await person.load(\.department)
    print(person.name, "works in", department?.code ?? "")
  }

  // Prefetching loads it with the fetch: one request for each step of the path.
  let projects = try await client.fetch(
    Project.self, sort: [\.title.ascending], prefetch: [\.department.staff, \.members])
  for project in projects {
    print(project.title, project.members.map(\.name), project.department?.staff.count ?? 0)
  }

  // A child context keeps its edits to itself until it saves them into the parent or drops them.
  let sheet = client.context.makeChild()
  if let draft = sheet.object(for: projects[0]) {
    draft.title = "Draft"
    print("here \(draft.title), there \(projects[0].title)")
    sheet.saveIntoParent()
    print("there \(projects[0].title), unsaved: \(projects[0].hasChanges)")
  }
  await client.close()
}
