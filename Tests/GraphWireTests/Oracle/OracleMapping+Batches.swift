import GraphModel
import GraphWire

extension OracleMapping {
  func rows(_ rows: BatchRows) -> Graph_BatchRows {
    make {
      $0.id = transactionID(rows.id)
      $0.rows = rows.rows.map { row in make { $0.values = row.map(value) } }
    }
  }

  func batch(_ batch: BatchRequest) -> Graph_Batch {
    make {
      $0.id = transactionID(batch.id)
      $0.policy = policy(batch.policy)
      $0.entity = batch.entity
      switch batch.operation {
      case .update(let predicate, let assignments):
        $0.operation = .update(
          make {
            $0.predicate = predicate
            $0.assignments = assignments.map(assignment)
          })
      case .delete(let predicate): $0.operation = .delete(make { $0.predicate = predicate })
      case .insert(let properties, let rows):
        $0.operation = .insert(
          make {
            $0.properties = properties.map { number in make { $0.number = number } }
            $0.rows = rows
          })
      }
    }
  }

  private func assignment(_ assignment: BatchRequest.Assignment) -> Graph_BatchAssignment {
    make {
      $0.property = assignment.property
      switch assignment.source {
      case .value(let constant): $0.source = .value(value(constant))
      case .expression(let text): $0.source = .expression(text)
      }
    }
  }
}
