import GraphModel
import GraphReplica
import GraphWire

/// Fetch request templates, with their answers computed by hand.
extension ClientFetches {
  func templateFetch(_ random: inout SeededRandom) -> PendingFetch? {
    switch random.below(3) {
    case 0:
      let (least, name) = (Int64(random.below(8)), "f\(random.below(5))")
      return templateFetch("largeItems", ["least": .integer(least), "folder": .string(name)]) { item, graph in
        guard case .integer(let size) = graph.value("size", of: item),
          graph.value("name", of: item, through: "folder") == .string(name)
        else { return false }
        return size > least
      } by: { left, right, graph in
        let (one, other) = (graph.value("size", of: left), graph.value("size", of: right))
        return one == other ? graph.precedes(left, right, "number") : ExpectedRowFetch.precedes([other], [one])
      }
    case 1:
      let (from, most) = (Int64(random.below(6)), Int64(random.below(60)))
      return templateFetch("openTasks", ["from": .integer(from), "most": .integer(most)]) { task, graph in
        guard case .integer(let due) = graph.value("due", of: task), due >= from else { return false }
        guard case .integer(let size) = graph.value("size", of: task, through: "about") else { return true }
        return size < most
      } by: { left, right, graph in
        let (one, other) = (graph.value("due", of: left), graph.value("due", of: right))
        return one == other ? graph.precedes(right, left, "number") : ExpectedRowFetch.precedes([one], [other])
      }
    default:
      return templateFetch("firstLabels", [:]) { _, _ in
        true
      } by: {
        $2.precedes($0, $1, "name")
      }
    }
  }

  private func templateFetch(
    _ name: String, _ arguments: [String: JSON], where matches: @escaping (ObjectImage, RecordedGraph) -> Bool,
    by precedes: @escaping (ObjectImage, ObjectImage, RecordedGraph) -> Bool
  ) -> PendingFetch? {
    guard let template = client.model.fetchRequest(named: name), let entity = client.model.entity(template.entity),
      let request = try? template.request(with: arguments, model: client.model)
    else {
      client.fail("client \(client.number) can't ask \(name)")
      return nil
    }
    let fetch = Fetch(
      entity: request.entity, predicate: request.predicate == .always ? "" : request.predicate.text(in: client.model),
      sort: request.sort.text(in: client.model), limit: UInt64(request.limit ?? 0))
    return PendingFetch(event: .fetchedTemplate, fetch: fetch) { graph, _ in
      let all = graph.images.values.filter { $0.id.entity == entity.number && matches($0, graph) }
        .sorted { precedes($0, $1, graph) }
      let part = Array(all.prefix(request.limit ?? .max))
      return FetchedAnswer(objects: part, count: part.count)
    }
  }
}

extension RecordedGraph {
  fileprivate func precedes(_ left: ObjectImage, _ right: ObjectImage, _ name: String) -> Bool {
    ExpectedRowFetch.precedes([value(name, of: left)], [value(name, of: right)])
  }
}
