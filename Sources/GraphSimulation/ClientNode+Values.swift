import GraphModel
import GraphReplica

extension ClientNode {
  /// Sets some attributes of a thing, of random types; each may become null, and some values break a rule.
  func editValues(_ random: inout SeededRandom) -> String {
    // All clients prefer the oldest thing.
    let things = objects("Thing")
    guard let thing = random.chance(40) ? things.first : random.pick(things) else { return "no thing" }
    for _ in 0..<(1 + random.below(3)) {
      guard let name = random.pick(SimulationModel.valued) else { continue }
      let value = SimulationModel.value(of: name, &random)
      set(thing, name, name != "done" && random.chance(20) ? .null : value)
    }
    if random.chance(5) { set(thing, "share", .double(4.5)) }
    return random.chance(65) ? save(&random, "measure") : "measure without saving"
  }

  /// Sets an estimate, which only runs with two versions have; the older version has it as an integer.
  func editEstimate(_ random: inout SeededRandom) -> String {
    defer { perform() }
    if random.chance(20), let (name, text) = random.pick(SimulationVersions.queries) {
      follow(name, text)
      return "follow \(name) \(text)"
    }
    guard let thing = random.pick(objects("Thing")) else { return "nothing to estimate" }
    let halves = random.below(16) - 3
    let value: Value = !version.isOlder ? .double(Double(halves) / 2) : .integer(Int64(halves / 2))
    set(thing, "effort", random.chance(15) ? .null : value)
    return random.chance(80) ? save(&random, "estimate") : "estimate without saving"
  }
}
