// Tests: MetricsTests.swift
import GraphModel
import GraphWire

/// The metrics of a server in Prometheus' text format, version 0.0.4.
struct MetricsText {
  private(set) var text = ""

  /// - Parameter http: nil if the server has no HTTP interface.
  init(_ status: ServerStatus, _ http: HTTPCounters.Counts?, _ model: Model) {
    store(status, model)
    if let http { self.http(http) }
  }

  private mutating func store(_ status: ServerStatus, _ model: Model) {
    add(
      "info", "The server, its store and its process.", .gauge,
      [
        (
          [
            ("server", status.server), ("data", status.location), ("store", status.head.store.hyphenated),
            ("model", model.name), ("model_version", "\(model.version)"), ("process", "\(status.process)"),
          ], 1
        )
      ])
    let accepts: Int64 = status.failure.isEmpty ? 1 : 0
    add("accepts_commits", "1 while commits are accepted, 0 while they are refused.", .gauge, accepts)
    add("revision", "The newest revision, which is the number of commits.", .counter, status.head.revision)
    add("oldest_revision", "The oldest state that history has; 0 if it was not pruned.", .gauge, status.oldest)
    add("store_bytes", "The size of the store on disk.", .gauge, Int64(clamping: status.size))
    add("commit_log_bytes", "The size of the commit log on disk.", .gauge, Int64(clamping: status.commitLogSize))
    add("sessions", "Sessions, with those that HTTP keeps for requests.", .gauge, Int64(clamping: status.sessions))
    add("live_queries", "Live queries of those sessions.", .gauge, Int64(clamping: status.registrations))
    add(
      "exposed_addresses", "Addresses that other machines reach without encryption or without accounts.", .gauge,
      Int64(status.exposures.count))
    let counters = status.counters.map { counter -> (Labels, Int64) in
      let property = model.ownProperty(counter.property)
      return ([("property", property.name)], counter.next)
    }
    if !counters.isEmpty { add("next_number", "The next number of a sequence.", .gauge, counters) }
  }

  private mutating func http(_ counters: HTTPCounters.Counts) {
    let requests = counters.requests.sorted { $0.key < $1.key }.map { kind, count -> (Labels, Int64) in
      ([("method", kind.method), ("code", "\(kind.status)")], Int64(count))
    }
    add("http_requests_total", "Answered requests.", .counter, requests)
    add("http_connections", "Open connections.", .gauge, Int64(counters.connections))
    add("http_connections_total", "Accepted connections.", .counter, Int64(counters.acceptedConnections))
    add(
      "http_refused_connections_total", "Connections not served, because there were too many.", .counter,
      Int64(counters.refusedConnections))
    add("http_streams", "Open streams of events.", .gauge, Int64(counters.streams))
    add("http_sockets", "Open WebSockets.", .gauge, Int64(counters.sockets))
    add("http_streamed_bytes_total", "Bytes of events that were written.", .counter, Int64(counters.streamedBytes))
  }

  // MARK: - The format

  private enum Kind: String {
    case counter, gauge
  }

  private typealias Labels = [(name: String, value: String)]

  private mutating func add(_ name: String, _ help: String, _ kind: Kind, _ value: Int64) {
    add(name, help, kind, [([], value)])
  }

  private mutating func add(_ name: String, _ help: String, _ kind: Kind, _ samples: [(Labels, Int64)]) {
    text += "# HELP stickiesd_\(name) \(help)\n# TYPE stickiesd_\(name) \(kind.rawValue)\n"
    for (labels, value) in samples {
      let list = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      text += "stickiesd_\(name)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }
  }

  /// Escapes a text for the value of a label.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
