import Foundation
import GraphModel
import GraphWire

/// The server's part of the status.
extension HubRunner {
  /// Reads the store's figures; called on the reader of the hub.
  /// - Parameter web: the URL of the application for browsers; nil without one.
  func status(_ web: String?) -> ServerStatus {
    var status = ServerStatus()
    if let web { status.web = web }
    status.process = UInt64(getpid())
    status.exposures = conditions.exposures.map(\.description)
    do {
      let statistics = try reads.store.statistics()
      status.location = statistics.location
      status.size = UInt64(statistics.size)
      status.head = statistics.head
      status.oldest = statistics.oldest
      status.failure = statistics.failure
      status.commitLogSize = UInt64(statistics.commitLogSize)
      status.counters = statistics.sequences.map { .init(property: $0.property, next: $0.next) }
    } catch {
      // A store without figures must not look like one that accepts commits.
      status.failure = reads.store.fileFailure()?.description ?? "\(error)"
    }
    return status
  }
}
