import GraphClient

@MainActor
func conflicts(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await GraphClient.connect(
      to: server, model: CompanyModel.model, classes: CompanyModel.classes, options: .init(author: author))
  }
  let ann = try await connect("ann@example")
  let department = Department(in: ann.context)
  let hers = Project(in: ann.context)
  department.code = "ENG"
  hers.title = "Bridge"
  hers.plan = "Dig. Build."
  hers.department = department
  try await ann.save()

  let bob = try await connect("bob@example")
  guard let his = try await bob.fetch(Project.self).first else { return }
  his.title = "Drawbridge"
  his.weight = 5
  his.plan = "Dig deep. Build."
  try await bob.save()

  // Ann has not received it. Only the title is a conflict: she does not set the weight, and both texts are merged.
  hers.title = "Footbridge"
  hers.plan = "Dig. Build well."
  do {
    try await ann.save()
  } catch let refusal as Refusal {
    report("refused", refusal.conflicts)
  }
  // Her edits are unsaved again. With another merge policy, hers win.
  if let saved = try await ann.save(policy: .objectTrump) { report("decided", saved.committed.conflicts) }
  print(hers.title, hers.weight, hers.plan)
  await bob.close()
  await ann.close()

  func report(_ what: String, _ conflicts: [Conflict]) {
    for conflict in conflicts {
      let property = ann.context.model.property(conflict.property)?.name ?? ""
      let (mine, theirs) = (conflict.mine.text, conflict.theirs.text)
      print("\(what): \(property) is \(theirs) of \(conflict.author), mine is \(mine); mine won: \(conflict.mineWon)")
    }
  }
}
