import { Skeleton } from '../states.tsx';

const widths = ['w-56', 'w-40', 'w-64', 'w-48', 'w-52', 'w-36', 'w-60', 'w-44'];

/** Stands in for a table while its first rows load. */
export function TableSkeleton() {
  return (
    <div aria-hidden>
      <div className="h-8 border-b" />
      {widths.map((width) => (
        <div key={width} className="flex h-8 items-center border-b px-4">
          <Skeleton className={`h-2.5 ${width}`} />
        </div>
      ))}
    </div>
  );
}
