import { parseInstant } from '../../model/source-record.ts';

export const osvIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:+-]{2,199}$/;
/** The index of all ecosystems had about 40 MB in 2025. */
const bytesMax = 96 * 1024 * 1024;
const rowMaxChars = 2_000;
/** Rows that are remembered to be read after a scan. */
const waitingMax = 50_000;
/** So many rows one after the other, each no newer than the one before, show that the newest stand first. */
const sureRows = 100;

/** A row of an index: `path` is the id, behind its ecosystem in the index of all; `mark` its time. `at` puts rows in an order without ties. */
export type OsvIndexRow = { path: string; mark: string; at: string };

export type IndexScan = {
  /** Takes a piece of the index; false once the rest holds nothing that is to be read. */
  onChunk: (piece: Buffer) => boolean;
  /** What is to be read, the oldest first. `left`: there is more; `cut`: the index is longer than is looked at. */
  finish: () => { rows: OsvIndexRow[]; left: boolean; cut: boolean };
};

/** One row of `modified_id.csv`: `time,id`, or `time,ecosystem/id` where it is of all ecosystems. */
export function parseIndexRow(line: string): OsvIndexRow | undefined {
  const [mark = '', path = ''] = line.trim().split(',');
  const time = parseInstant(mark);
  const id = path.slice(path.lastIndexOf('/') + 1);
  return time && osvIdPattern.test(id) ? { path, mark, at: `${time} ${path}` } : undefined;
}

/**
 * Looks through an index as it comes in, for rows that are not `seen` with their time. What is not newer than `floor` was read; where the
 * newest rows stand first, as OSV has them, the rest is not fetched then.
 */
export function createIndexScan({ seen, floor }: { seen: Map<string, string>; floor: string }): IndexScan {
  const decoder = new TextDecoder();
  let open: OsvIndexRow[] = [];
  let [rest, last] = ['', '9'];
  let [size, count] = [0, 0];
  let [left, cut, isOver, isSorted] = [false, false, false, true];
  const keepOldest = (): void => {
    open.sort((a, b) => (a.at < b.at ? -1 : 1));
    left ||= open.length > waitingMax;
    open = open.slice(0, waitingMax);
  };
  /** False where nothing further down can be new. */
  const look = (line: string): boolean => {
    const row = parseIndexRow(line);
    if (!row) return true;
    const time = row.at.slice(0, 24);
    isSorted &&= time <= last;
    last = time;
    count += 1;
    if (row.at <= floor) return !isSorted || count <= sureRows || time >= floor.slice(0, 24);
    if (seen.get(row.path) !== row.mark) open.push(row);
    if (open.length >= 2 * waitingMax) keepOldest();
    return true;
  };
  return {
    onChunk(piece) {
      size += piece.length;
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop()!;
      const goesOn = lines.every(look);
      cut = goesOn && (size >= bytesMax || rest.length > rowMaxChars);
      isOver = cut || !goesOn;
      return !isOver;
    },
    finish() {
      if (!isOver) look(rest);
      if (count === 0) throw new Error('the index has no row with a time and an id');
      keepOldest();
      return { rows: open, left, cut };
    },
  };
}
