type Props = { label: string; done: number; total: number };

/** How much of long work is done. The label stands above the bar, with a percentage. */
export function ProgressBar({ label, done, total }: Props) {
  const percent = total === 0 ? 0 : Math.floor((100 * done) / total);
  return (
    <div className="flex max-w-md flex-col gap-1.5">
      <div className="tabular flex justify-between gap-4 text-12 text-muted">
        <span>{label}</span>
        <span aria-hidden>{percent} %</span>
      </div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="h-1.5 overflow-hidden rounded-small bg-hover"
      >
        <div
          className="h-full bg-accent transition-[width] duration-150 motion-reduce:transition-none"
          style={{ width: `${percent}%` }}
        />
      </div>
    </div>
  );
}
