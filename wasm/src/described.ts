// SPDX-License-Identifier: Apache-2.0
//
// Classes of the requirement documents as values: `new` gives an object that holds the members, which is the data that
// calls, files and recipes have.

/** Members with defaults may be left out. */
export type Given<Members, Optional extends keyof Members> = Omit<Members, Optional> & Partial<Pick<Members, Optional>>;

export type Describes<Members, Optional extends keyof Members> = new (members: Given<Members, Optional>) => Members;

export function described<Members extends object, Optional extends keyof Members = never>(
  defaults: Pick<Members, Optional>,
): Describes<Members, Optional> {
  return class {
    constructor(members: Given<Members, Optional>) {
      Object.assign(this, defaults, members);
    }
  } as Describes<Members, Optional>;
}

/** One whose every member has a default in the core. */
export function describedByDefaults<Members extends object>(): new (members?: Members) => Members {
  return class {
    constructor(members?: Members) {
      Object.assign(this, members);
    }
  } as new (members?: Members) => Members;
}
