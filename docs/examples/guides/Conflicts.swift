import GraphClient

@MainActor
func conflicts(at server: ServerAddress) async throws {
  func connect(_ author: String) async throws -> GraphClient {
    try await CompanyModel.connect(to: server, author: author)
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
    try await ann.attempt { try await ann.save() }
  } catch GraphError.conflict(let values, _) {
    for value in values {
      let (mine, theirs) = (value.mine.text, value.theirs.text)
      print("refused: \(value.property ?? value.entity) is \(theirs) of \(value.author), mine is \(mine)")
    }
  }
  // Her edits are unsaved again. With another merge policy, hers win.
  if let saved = try await ann.save(policy: .objectTrump) {
    for conflict in saved.committed.conflicts {
      // A conflict that a policy has decided has the number of its property.
      let property = ann.context.model.property(conflict.property)?.name ?? ""
      print("decided: \(property) was \(conflict.theirs.text) of \(conflict.author); mine won: \(conflict.mineWon)")
    }
  }
  print(hers.title, hers.weight, hers.plan)
  await bob.close()
  await ann.close()
}
