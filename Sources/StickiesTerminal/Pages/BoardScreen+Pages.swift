import GraphControllers
import StickiesKit
import TerminalCells

extension BoardScreen {
  /// Draws both boards that are visible during a scroll, side by side.
  func drawScroll(_ pager: Pager<BoardDirectory, BoardPageController>, into grid: inout Grid) {
    let width = viewport.canvas.size.width
    let lower = pager.offset.rounded(.down)
    let shift = Int(((pager.offset - lower) * Double(width)).rounded())
    for controller in pager.visible {
      let frame = viewport.canvas.moved(x: controller.page == Int(lower) ? -shift : width - shift, y: 0)
      let clip = frame.intersection(viewport.canvas)
      let color = pages.directory.board(at: controller.page).map { PaperColor(name: $0.color.rawValue) } ?? .gray
      switch controller.face(at: now) {
      case .content(let page): draw(page, into: &grid, frame: frame, clip: clip)
      case .failed(let sentence):
        grid.fill(clip, theme.board(color))
        EmptyBoardHint(lines: [sentence]).draw(into: &grid, frame: frame, clip: clip, theme: theme, color: color)
      case .waiting(let picture):
        grid.fill(clip, theme.board(color))
        controller.busyView.view(saying: picture)?.draw(into: &grid, frame: frame, clip: clip, theme: theme)
      case .outOfBounds: grid.fill(clip, theme.board(.gray))
      }
    }
  }
}

extension DotsView {
  /// The dots of a pager's pages.
  init(_ dots: PageDots) { self.init(count: dots.count, current: dots.current) }
}
