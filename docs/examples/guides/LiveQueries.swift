import GraphClient

@MainActor
func liveQueries(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await CompanyModel.connect(to: server, author: author)
  }
  let client = try await connect("ann@example")
  let colleague = try await connect("bob@example")
  let department = Department(in: colleague.context)
  let tunnel = Project(in: colleague.context)
  let bridge = Project(in: colleague.context)
  department.code = "OPS"
  for (project, title) in [(tunnel, "Tunnel"), (bridge, "Bridge")] {
    project.title = title
    project.department = department
    project.status = .running
    project.weight = 3
  }

  // A colleague's edit after each snapshot.
  var edits: [() -> Void] = [
    {},
    { bridge.title = "Drawbridge" },
    { tunnel.status = .planned },
    { colleague.context.delete(bridge) },
  ]

  // The first result, then the result after each commit that changes it.
  for try await projects in client.live(
    Project.self, where: { $0.status == .running && $0.weight >= 2 }, sort: [\.title.localized])
  {
    print(projects.map(\.title))
    if let difference = projects.difference {
      for change in difference.objects {
        switch change {
        case .inserted(_, let position): print("  \(difference.author) added row \(position.row)")
        case .removed(_, let position): print("  \(difference.author) removed row \(position.row)")
        case .updated(_, _, let position, _): print("  \(difference.author) changed row \(position.row)")
        case .moved(_, let old, let new, _): print("  \(difference.author) moved row \(old.row) to \(new.row)")
        }
      }
    }
    // The query ends with the loop.
    guard let edit = edits.first else { break }
    edits.removeFirst()
    edit()
    try await colleague.save()
  }
  await colleague.close()
  await client.close()
}
