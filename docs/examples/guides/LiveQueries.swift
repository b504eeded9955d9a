import GraphClient

@MainActor
func liveQueries(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await GraphClient.connect(
      to: server, model: CompanyModel.model, classes: CompanyModel.classes, options: .init(author: author))
  }
  let client = try await connect("ann@example")
  let context = client.context

  // When it returns, the first result is there.
  let running = try await client.follow(Project.self, where: { $0.status == .running && $0.weight >= 2 })
  func show(_ what: String) {
    let projects = context.result(of: running, as: Project.self, sort: [\.title.localized.ascending])
    print(what, projects.map(\.title))
  }
  show("at first")

  // One change for each commit that touches the result, in the order of the commits.
  let (changes, sink) = AsyncStream.makeStream(of: ObjectsDidChange.self)
  let token = context.observe { change in if change.queries.contains(running) { sink.yield(change) } }
  var following = changes.makeAsyncIterator()

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
  try await colleague.save()
  if let change = await following.next() { show("\(change.author) added \(change.inserted.count):") }

  bridge.title = "Drawbridge"
  try await colleague.save()
  if let change = await following.next() { show("\(change.author) changed \(change.updated.count):") }

  tunnel.status = .planned
  try await colleague.save()
  if let change = await following.next() { show("\(change.departed.count) left the filter:") }

  colleague.context.delete(bridge)
  try await colleague.save()
  if let change = await following.next() { show("\(change.deleted.count) deleted:") }

  token.cancel()
  client.unfollow(running)
  await colleague.close()
  await client.close()
}
