// Tests: RequestTests.swift
import GraphModel
import HTTPTypes

/// The parameters of a request's query. An unknown name is an error, so that misspelled names are reported, and so is a
/// parameter that is given twice, unless it may be repeated.
struct QueryParameters {
  private var values = [ByteKey: String]()
  /// The values of the parameter that may be repeated, in their order.
  private(set) var repeated = [String]()

  /// - Parameters:
  ///   - query: the part of the target after the question mark.
  ///   - route: the resource that defines the parameters.
  init(_ query: Substring, of route: Route, _ method: HTTPRequest.Method) throws(Problem) {
    let (names, repeatable) = (route.parameters(of: method), route.repeatableParameter)
    for part in query.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentCoding.decode(pair[0], spaces: true),
        let value = PercentCoding.decode(pair.count == 2 ? pair[1] : "", spaces: true)
      else { throw .malformed("the parameter \(String(part).excerpt) is not UTF-8 in percent-encoding") }
      guard names.contains(where: { UTF8Comparison.equal($0, name) }) else {
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        throw .malformed("this resource has no parameter \"\(name.excerpt)\"; \(known)")
      }
      if let repeatable, UTF8Comparison.equal(repeatable, name) {
        repeated.append(value)
        continue
      }
      guard values.updateValue(value, forKey: ByteKey(name)) == nil else {
        throw .malformed("the parameter \(name) is given twice")
      }
    }
  }

  /// The value of a parameter that is not repeated; nil if it is missing.
  subscript(name: String) -> String? { values[ByteKey(name)] }

  /// The number of a parameter; nil if it is missing.
  func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
    guard let text = self[name] else { return nil }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), range.contains(number) else {
      throw .malformed(
        "\(name) is \(text.excerpt); it must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The names in a list that is separated by commas; nil if the parameter is missing.
  func names(_ name: String) -> [String]? {
    self[name].map { $0.split(separator: ",", omittingEmptySubsequences: true).map(String.init) }
  }

  /// The merge policy; `error` if the parameter is missing.
  func policy() throws(Problem) -> MergePolicy {
    guard let text = self["policy"] else { return .error }
    guard let policy = MergePolicy.named(text) else {
      throw .malformed("policy is \(text.excerpt); it must be one of \(MergePolicy.names.joined(separator: ", "))")
    }
    return policy
  }
}

extension MergePolicy {
  static let names = allCases.map { "\($0)" }

  static func named(_ text: String) -> MergePolicy? { allCases.first { UTF8Comparison.equal("\($0)", text) } }
}
