/** The decisions about what is selected, above the end of a list. `label` says what that is. */
export function FloatingBar({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div
      role="toolbar"
      aria-label={label}
      className="absolute bottom-4 left-1/2 z-20 flex w-max max-w-[calc(100%-2rem)] -translate-x-1/2 animate-[appear_140ms] flex-wrap items-center gap-2 rounded-control bg-raised p-1.5 pl-3 shadow-float"
    >
      <span className="tabular mr-2 whitespace-nowrap">{label}</span>
      {children}
    </div>
  );
}
