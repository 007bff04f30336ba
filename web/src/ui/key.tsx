/** A key of the keyboard. */
export function Key({ children }: { children: React.ReactNode }) {
  return (
    <kbd className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-small border border-line bg-surface px-1 font-sans text-12 leading-none text-muted">
      {children}
    </kbd>
  );
}
