// Tests: ServerCertificateTests.swift

/// A certificate or a key that can't be served: what is wrong, and what to do.
public struct CertificateFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem, with the path; without a final period.
  public let sentence: String
  /// The advice, in a sentence.
  public let advice: String

  init(_ sentence: String, advice: String) { (self.sentence, self.advice) = (sentence, advice) }

  public var description: String { "\(sentence). \(advice)" }
}
