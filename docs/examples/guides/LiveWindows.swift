import GraphClient

@MainActor
func liveWindows(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await CompanyModel.connect(to: server, author: author)
  }
  let colleague = try await connect("bob@example")
  let department = Department(in: colleague.context)
  department.code = "OPS"
  func plan(_ title: String) {
    let project = Project(in: colleague.context)
    project.title = title
    project.department = department
  }
  for number in 1...90 { plan("Project \(number)") }
  try await colleague.save()

  // Three rows of ninety: the context holds no others.
  let client = try await connect("ann@example")
  let context = client.context
  let list = try await client.subscribe(
    to: Project.self, where: { $0.status == .planned }, sort: [\.title.natural], limit: 3)
  func show(_ what: String) {
    guard let window = list.window else { return }
    print(what, window.objects(as: Project.self).map(\.title), "behind \(window.offset) of \(window.total)")
  }
  show("at first")

  // A list on the screen needs one difference for each move and for each commit that touches the window.
  let (differences, sink) = AsyncStream.makeStream(of: WindowDifference.self)
  let token = context.observe { change in if let difference = change.difference(of: list) { sink.yield(difference) } }
  var following = differences.makeAsyncIterator()

  list.moveWindow(offset: 60)
  if await following.next() != nil { show("moved:") }

  plan("Project 61 b")
  try await colleague.save()
  if let change = await following.next() {
    print("a row came at \(change.inserted), one went from \(change.removed)")
    show("now")
  }

  // A delete before the window shifts its rows.
  let first = try await colleague.fetch(Project.self, where: { $0.title == "Project 1" })
  first.forEach(colleague.context.delete)
  try await colleague.save()
  if let change = await following.next() {
    print("a row came at \(change.inserted), one went from \(change.removed)")
    show("now")
  }

  token.cancel()
  list.close()
  await colleague.close()
  await client.close()
}
