const storageKey = 'tocsin.panelWidth';

export const defaultWidth = 480;
export const minWidth = 360;
const listMinWidth = 320;

/** Returns the greatest width of a panel beside a list in a space of this width, in pixels. */
export const maxWidthIn = (space: number): number => Math.max(minWidth, space - listMinWidth);

/** Returns a width that leaves room for the list. */
export const fitWidth = (width: number, space: number): number =>
  Math.round(Math.min(Math.max(width, minWidth), maxWidthIn(space)));

/** Returns the width that the panel was left with in this browser. */
export function readPanelWidth(): number {
  const width = Number(localStorage.getItem(storageKey));
  return Number.isFinite(width) && width >= minWidth ? width : defaultWidth;
}

export const storePanelWidth = (width: number): void => localStorage.setItem(storageKey, String(width));
