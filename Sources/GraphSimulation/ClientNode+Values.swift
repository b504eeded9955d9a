import GraphModel
import GraphReplica

extension ClientNode {
  /// Some attributes of a thing, of whatever types: each may become null, and some break a rule.
  func measure(_ random: inout SeededRandom) -> String {
    // Everyone likes to measure the oldest one.
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
}
