import GraphControllers
import GraphModel

/// A list that knows only the differences that it receives.
final class ListReplayer: ResultsControllerDelegate {
  private(set) var sections: [(name: Value?, ids: [ObjectID])] = [(nil, [])]
  private(set) var mistakes = [String]()
  private(set) var calls = 0

  func results(_ controller: ResultsController, didFail refusal: Refusal) { mistakes.append("\(refusal)") }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    calls += 1
    let count = sections.reduce(0) { $0 + $1.ids.count }
    if count != difference.countBefore { mistakes.append("\(count) rows before, not \(difference.countBefore)") }
    replay(difference)
    let after = sections.reduce(0) { $0 + $1.ids.count }
    if after != difference.countAfter || after != controller.count { mistakes.append("\(after) rows after") }
  }

  private func replay(_ difference: ResultsDifference) {
    var (sources, targets) = ([(ObjectID, ResultsPosition)](), [(ObjectID, ResultsPosition)]())
    for object in difference.objects {
      switch object {
      case .removed(let id, let old): sources.append((id, old))
      case .inserted(let id, let new): targets.append((id, new))
      case .moved(let id, let old, let new, _):
        sources.append((id, old))
        targets.append((id, new))
      case .updated(let id, let old, _, _):
        if sections[old.section].ids[old.row] != id { mistakes.append("\(id) was not at \(old)") }
      }
    }
    for (id, old) in sources.sorted(by: { $0.1 > $1.1 }) {
      if sections[old.section].ids.remove(at: old.row) != id { mistakes.append("\(id) did not leave \(old)") }
    }
    for case .removed(let name, let index) in difference.sections {
      let gone = sections.remove(at: index)
      if !gone.ids.isEmpty || gone.name != name { mistakes.append("section \(index) was not empty") }
    }
    for case .inserted(let name, let index) in difference.sections { sections.insert((name, []), at: index) }
    for (id, new) in targets.sorted(by: { $0.1 < $1.1 }) { sections[new.section].ids.insert(id, at: new.row) }
  }
}
