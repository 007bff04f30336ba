import type { ReactNode } from 'react';

/** Shows further entries of a list that were loaded already. */
export function ShowMore({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" onClick={onClick} className="w-fit text-12 text-muted hover:text-ink">
      {children}
    </button>
  );
}
