/// The web board: the files in the folder `Web`, embedded in the program.
package enum WebBoard {
  /// The files as `scripts/embed-web` writes them: the build, then a line for each file.
  package static var files: String { EmbeddedFiles.text }
}
