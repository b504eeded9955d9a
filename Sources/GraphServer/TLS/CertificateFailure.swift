// Tests: ServerCertificateTests.swift

/// A certificate or a key that can't be used, with the reason and the advice.
public struct CertificateFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem, with the path; without a final period.
  public let sentence: String
  /// The advice, in a sentence.
  public let advice: String

  init(_ sentence: String, advice: String) { (self.sentence, self.advice) = (sentence, advice) }

  public var description: String { "\(sentence). \(advice)" }
}
