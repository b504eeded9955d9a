/// The product: its version, and with StickiesKit the connection to a daemon.
public enum Stickies {
  /// The version of this release.
  public static let version = "0.1.0"
}
