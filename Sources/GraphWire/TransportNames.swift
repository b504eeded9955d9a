/// The names that both ends of an encrypted connection use.
public enum TransportNames {
  /// The protocol's name in the TLS handshake (ALPN). A server and a client refuse a peer that does not name it, so
  /// that bytes for a server of another protocol never reach this one.
  public static let applicationProtocol = "graph/1"

  private static let reasonPrefix = "OPENSSL_internal:"

  /// The reason in the description of a TLS library's error, without its paths and numbers; `WRONG_VERSION_NUMBER`, for
  /// example. A description without a reason is returned as it is.
  public static func reason(inErrorText text: String) -> String {
    let parts = text.components(after: reasonPrefix)
    return parts.isEmpty ? text : parts.joined(separator: ", ")
  }
}

extension String {
  /// The words that follow each occurrence of a prefix.
  fileprivate func components(after prefix: String) -> [String] {
    var found = [String]()
    var rest = self[...]
    while let range = rest.firstRange(of: prefix) {
      rest = rest[range.upperBound...]
      found.append(String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
    }
    return found
  }
}
