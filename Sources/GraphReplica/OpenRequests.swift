// Tests: ReconnectTests.swift, UnresponsiveServerTests.swift
import GraphModel

/// The requests of one connection that have answers, or further parts of answers, to come.
///
/// A request is added when it is sent, and closed at the end of its answer. A lost connection closes all.
struct OpenRequests {
  enum Purpose {
    case hello
    case save(TransactionID)
    case subscribe(QueryID)
    case moveWindow(QueryID)
    /// A request of the owner.
    case request(RequestID)
    /// A request of the owner that is answered by progress and then like a commit.
    case batch(RequestID)
    /// Whether the store knows the state of the revision.
    case confirmation(Revision)
    case ping
    /// The server does not answer.
    case unanswered

    func isAbout(_ query: QueryID) -> Bool {
      switch self {
      case .subscribe(query), .moveWindow(query): true
      default: false
      }
    }
  }

  /// The number of the connection's newest message.
  private var lastNumber: UInt64 = 0
  private var purposes = [UInt64: Purpose]()
  /// The numbers of the owner's requests.
  private var numbers = [RequestID: UInt64]()

  /// Numbers a message, and keeps its purpose if it has an answer.
  mutating func add(_ purpose: Purpose) -> UInt64 {
    lastNumber += 1
    switch purpose {
    case .unanswered: break
    case .request(let request), .batch(let request):
      numbers[request] = lastNumber
      purposes[lastNumber] = purpose
    default: purposes[lastNumber] = purpose
    }
    return lastNumber
  }

  /// The purpose of an open request; nil for one that is closed.
  func purpose(of number: UInt64) -> Purpose? { purposes[number] }

  /// The number of an owner's request on this connection; nil if it is closed.
  func number(of request: RequestID) -> UInt64? { numbers[request] }

  /// Closes a request; later answers to it are ignored.
  mutating func close(_ number: UInt64) { purposes[number] = nil }

  /// Closes the owner's request that was sent under a number.
  mutating func close(_ number: UInt64, of request: RequestID) {
    purposes[number] = nil
    numbers[request] = nil
  }

  /// Closes a request whose further answers name another number.
  mutating func replace(_ old: UInt64, by number: UInt64, for purpose: Purpose) {
    assert(number <= lastNumber, "an open request has been sent")
    purposes[number] = purpose
    purposes[old] = nil
  }

  /// Closes all requests about a query.
  mutating func removeAll(about query: QueryID) { purposes = purposes.filter { !$0.value.isAbout(query) } }

  /// Closes all requests, because the connection ended.
  /// - Returns: the owner's requests, ascending.
  mutating func removeAll() -> [RequestID] {
    defer { (purposes, numbers) = ([:], [:]) }
    return numbers.keys.sorted()
  }

  /// Begins to number the messages of a new connection.
  mutating func restartNumbers() {
    assert(purposes.isEmpty, "a new connection has no open requests")
    lastNumber = 0
  }
}
