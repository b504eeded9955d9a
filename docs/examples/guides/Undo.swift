import GraphClient

@MainActor
func undo(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await CompanyModel.connect(to: server, author: author)
  }
  let ann = try await connect("ann@example")
  let department = Department(in: ann.context)
  let bridge = Project(in: ann.context)
  let tunnel = Project(in: ann.context)
  department.code = "ENG"
  for (project, title) in [(bridge, "Bridge"), (tunnel, "Tunnel")] {
    project.title = title
    project.department = department
  }
  try await ann.save()

  // An undo stack for this window. All changes of the body are one step on it.
  ann.context.undoScope = ann.undoScope()
  try await ann.undoable("Weigh in") {
    bridge.weight = 5
    try await ann.save()
    tunnel.weight = 7
  }

  // Another client changes one of the weights.
  let bob = try await connect("bob@example")
  guard let his = try await bob.fetch(Project.self, where: { $0.title == "Bridge" }).first else { return }
  his.weight = 6
  try await bob.save()

  let state = try await ann.undoState()
  print("Undo \(state.undo?.name ?? ""): \(state.undo?.count ?? 0) commits")
  report(try await ann.undo())
  try await show("undone")
  report(try await ann.redo())
  try await show("redone")
  await bob.close()
  await ann.close()

  // Later changes of other clients stay, and the result names them.
  func report(_ saved: SaveResult) {
    for conflict in saved.committed.conflicts {
      let property = ann.context.model.property(conflict.property)?.name ?? ""
      print("\(property) stays: \(conflict.theirs.text) of \(conflict.author)")
    }
  }

  func show(_ what: String) async throws {
    let projects = try await bob.fetch(Project.self, sort: [\.title.ascending])
    print("\(what):", projects.map { "\($0.title) \($0.weight)" })
  }
}
