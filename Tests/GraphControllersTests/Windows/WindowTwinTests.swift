import GraphControllers
import GraphModel
import GraphTesting
import Testing

/// Random arrangements, beside a twin that keeps plain lists and searches them.
@Suite struct WindowTwinTests {
  private struct Twin {
    var windows = [(id: ObjectID, serial: Int, isEdited: Bool)]()
    var shut = [ObjectID]()
    var made = 0

    mutating func arrange(_ ids: [ObjectID]) {
      let old = windows
      windows = []
      for id in ids where !shut.contains(id) {
        if let known = old.first(where: { $0.id == id }) {
          windows.append(known)
        } else {
          made += 1
          windows.append((id, made, false))
        }
      }
      for window in old where window.isEdited && !ids.contains(window.id) { windows.append(window) }
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func randomArrangementsMatchReferenceModel(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let script = WindowTranscript()
    var twin = Twin()
    var lossCount = 0
    for step in 0..<400 {
      let number = UInt64.random(in: 0..<12, using: &random)
      let id = WindowTranscript.id(number)
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        _ = script.windows.close(id)
        if let index = twin.windows.firstIndex(where: { $0.id == id }) {
          twin.windows.remove(at: index)
          twin.shut.append(id)
        }
      case 1:
        script.windows.reopen(id)
        twin.shut.removeAll { $0 == id }
      case 2, 3:
        script.windows[id]?.type("text")
        if let index = twin.windows.firstIndex(where: { $0.id == id }) { twin.windows[index].isEdited = true }
      case 4:
        if script.windows.removalReason(of: id) != nil { twin.windows.removeAll { $0.id == id } }
        _ = script.windows.resolveRemoval(id)
      default:
        let ids = (0..<12).map(WindowTranscript.id).filter { _ in random.chance(70) }.shuffled(using: &random)
        let cause = script.commit(Revision(step), by: "ben")
        lossCount += script.arrange(ids: ids, cause).count { $0.hasPrefix("lost") }
        twin.arrange(ids)
      }
      #expect(script.windows.ids == twin.windows.map(\.id), "seed \(seed), step \(step)")
      #expect(
        script.windows.ids.map { script.windows[$0]?.serial } == twin.windows.map(\.serial),
        "seed \(seed), step \(step)")
    }
    #expect(script.made == twin.made)
    #expect(script.made > 12 && lossCount > 0, "seed \(seed) shows nothing")
  }
}
